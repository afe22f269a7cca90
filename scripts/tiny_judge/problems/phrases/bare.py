"""Problems without a story, and sentences with a number that does not matter."""

BANKS = {
    "expression": """
[Calculate|Compute|Evaluate|Work out|Find] {E}.
What is {E}?
{E} = ?
[How much is|What do you get for] {E}?
Solve: {E}
[Find|Give] the value of {E}.
Simplify {E}.
What does {E} equal?
Please compute {E}
{E}
Determine the value of the expression {E}.
What's {E}?
{E}=
{E} =
{E} equals?
Calculate: {E}
Can you calculate {E}[ for me|]?
[Hey, w|W]hat do I get if I compute {E}?
Result of {E}?
""",
    "start": """
start with {n}
take the number {n}
begin with {n}
[a|some] number is {n}
compute: start with {n}
think of {n}
""",
    "plus": """
add {n}
add {n} to [it|the result]
increase [it|the result] by {n}
put {n} more
""",
    "minus": """
subtract {n}
take away {n}
subtract {n} from [it|the result]
decrease [it|the result] by {n}
take {n} away from it
""",
    "times": """
multiply by {n}
multiply the result by {n}
multiply it by {n}
take {n} times that
""",
    "over": """
divide by {n}
divide the result by {n}
divide it by {n}
split it into {n} equal parts
take one {n}th of that
""",
    "ask": """
What is the result?
What number do you get?
What do you get?
Give the final number.
Which number comes out?
""",
}

# a single operation in words
WORDED = {
    "+": """
What is [the sum of |]{a} [and|plus] {b}?
Add {a} and {b}.
[Find|Compute|Calculate] the sum of {a} and {b}.
How much is {a} plus {b}?
What is {a} plus {b}?
{a} plus {b}
What do {a} and {b} add up to?
Increase {a} by {b}.
What number is {b} more than {a}?
""",
    "-": """
What is {a} minus {b}?
Subtract {b} from {a}.
[Find|Compute|Calculate] the difference [between|of] {a} and {b}.
How much is {a} minus {b}?
{a} minus {b}
Take {b} away from {a}.
What is left of {a} if you take away {b}?
What number is {b} less than {a}?
How much bigger is {a} than {b}?
""",
    "*": """
What is {a} [times|multiplied by] {b}?
Multiply {a} by {b}.
[Find|Compute|Calculate] the product of {a} and {b}.
How much is {a} times {b}?
{a} times {b}
What is the product of {a} and {b}?
Work out {a} lots of {b}.
""",
    "/": """
What is {a} [divided by|over] {b}?
Divide {a} by {b}.
[Find|Compute|Calculate] the quotient of {a} and {b}.
How much is {a} divided by {b}?
{a} divided by {b}
How many times does {b} go into {a}?
""",
}

DISTRACTORS = """
The {box} is {n} years old.
{M} is {n} years old.
The trip to {place} takes {n} minutes.
{K} lives {n} km away.
A sign on the wall says number {n}.
A man across the street has {n} cats.
It is {n} degrees outside.
{M} waited {n} minutes for {N}.
There are {n} trees on the street.
The room has {n} windows.
"""

ASK = """
Question:
Now the question:
So,
Can you tell:
Work it out:
Q:
Tell me:
The question is:
Solve this.
Can you solve it?
My question:
"""

# words of a question and of a story (regular expressions) and what may stand there instead
ASK_WORDS = r"""
\bare left\?=>remain?|are still there?|are left over?|will be left?|will remain?|are remaining?
\bhave left\?=>still have?|have remaining?|keep?|have left over?|have left after that?
\b(altogether|in total|in all)\?=>altogether?|in total?|in all?|overall?|all together?|in sum?
\bhave now\?=>have in the end?|have at the end?|end up with?|have after all this?|have then?|finally have?
\bare there now\?=>are there in the end?|are there at the end?|are there then?|are there after that?|are there finally?
\bdo they have together\?=>do they have in total?|do they have altogether?|do they own together?|do both have together?|do they have all together?
\b(he|she) pay\?=>\1 have to pay?|\1 need to pay?|\1 pay altogether?|\1 spend?|\1 pay at the checkout?
\bat the end\?=>in the end?|at last?|after everything?|when all is done?
"""

BODY_WORDS = r"""
\bbuys\b=>purchases|gets|takes home|chooses
\bgets\b=>receives|is given|obtains
\bfinds\b=>discovers|comes across|spots and takes
\bThere are\b=>We have|You can see|Here are|We see
\bloses\b=>misplaces|no longer has|can no longer find
\bsells\b=>manages to sell|finds buyers for|sells off
\bin each(?=[.,])=>in every one|in each one|in every single one
\buses\b=>uses up|needs|makes use of
\bchildren\b=>kids|boys and girls|young people
"""
