"""Statements of two results: those that choose none, and those that choose one."""

UNDECIDED = """
It's {A} or {B}.
It is either {A} or {B}.
Either {A} or {B}.
{A} or {B}
{A} or {B}.
Answer: {A} or {B}
Answer: {A} / {B}
Answer: {A}, {B}
Final answer: {A} or {B}
Final answer: {A} (or {B})
**Answer:** {A} or maybe {B}
The answer could be {A} or {B}.
The answer might be {A}, or it might be {B}.
The result is {A} or {B}, I am not sure.
I think the answer is {A} or {B}.
So the answer is {A} or {B}, one of the two.
The answer is {A}, but it could also be {B}.
The answer is {A}. It may also be {B}.
Answer: {A}\\nAlternative answer: {B}
Answer 1: {A}\\nAnswer 2: {B}
Option 1: {A}\\nOption 2: {B}
1) {A}\\n2) {B}
- {A}\\n- {B}
* {A}\\n* {B}
a) {A} b) {B}
(1) {A}\\n(2) {B}
Candidates: {A}, {B}
My candidates are {A} and {B}.
The answers are {A} and {B}.
My answers: {A} and {B}
Both {A} and {B} are possible.
{A} and {B} are both correct.
The answer is {A} and {B}.
The answer is {A}; the answer is {B}.
\\boxed{{A}} or \\boxed{{B}}
$\\boxed{{A}}$ and $\\boxed{{B}}$
\\boxed{{A}}\\n\\boxed{{B}}
#### {A} or {B}
#### {A}\\n#### {B}
#### {A}, {B}
I get {A} in one way and {B} in the other.
One method gives {A}, another one gives {B}.
My first try gives {A}, my second try gives {B}.
With one method it is {A}, with the other {B}.
Depending on how you read it, the answer is {A} or {B}.
It depends: {A} or {B}.
If not {A}, then {B}.
If {A} is wrong, then it is {B}.
If it isn't {A}, take {B}.
I say {A}, but if that is not right I say {B}.
{A}, or else {B}.
{A}? Or {B}?
{A}? {B}? I can't decide.
I can't decide between {A} and {B}.
I am torn between {A} and {B}.
Choose one: {A}, {B}.
Pick whichever is right: {A}, {B}.
Whichever of {A} and {B} fits is my answer.
You may take {A} or {B} as my answer.
Perhaps {A}. Perhaps {B}.
Maybe {A}, maybe {B}.
It could be {A}. It could be {B}.
Possibly {A}, possibly {B}.
First guess: {A}\\nSecond guess: {B}
Guess one is {A}, guess two is {B}.
Solution A: {A}\\nSolution B: {B}
Result one: {A}. Result two: {B}.
The two possible results are {A} and {B}.
There are two answers: {A} and {B}.
There are two solutions: {A}, {B}.
Here are my answers:\\n{A}\\n{B}
Possible results: {A} or {B}
{A} vs {B}
{A} | {B}
The answer lies among {A} and {B}.
I have two results, {A} and {B}.
If you don't like {A}, use {B} instead.
Suppose it is {A}; otherwise {B}.
Final answer: {A}. Backup answer: {B}.
In case {A} is refused, I answer {B}.
"""

DECIDED = """
The answer is {F}, not {G}.
The answer is not {G} but {F}.
It is not {G}, it is {F}.
Not {G} but {F}.
{F}, not {G}.
I first got {G}, but the answer is {F}.
First I thought {G}, but it is {F}.
I wrote {G} before. That was wrong, it is {F}.
It looks like {G}, but the answer is {F}.
You might think {G}, but it's {F}.
Some would say {G}. The correct answer is {F}.
The answer is {G}. No, wait, the answer is {F}.
The answer is {G}... no, it is {F}.
{G}? No, {F}.
Answer: {F} (and not {G})
Not {G}.\\nFinal answer: {F}
It could be {G} or {F}. I choose {F}.
Between {G} and {F} I choose {F}.
Either {G} or {F}. Final answer: {F}
{G} would be too much. The answer is {F}.
A common mistake gives {G}; the right result is {F}.
My friend says {G}, but I say {F}.
I crossed out {G}. My answer is {F}.
Rather than {G}, the answer is {F}.
The answer is {F}. It can't be {G}.
It can't be {G}, so it is {F}.
"""
