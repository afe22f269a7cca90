"""Texts around a question that tell how to answer: a system text before it, a wish behind it."""

BEFORE = r"""
You are a helpful assistant.
You are a helpful assistant. Solve the problem step by step and put the final answer in \boxed{}.
You are a math tutor. Answer the question.
You are an expert in mathematics. Think step by step.
You are a careful student. Show your work and box the final answer.
Solve the following math problem step by step. The last line of your response should be of the form Answer: $Answer (without quotes) where $Answer is the answer to the problem.
Please reason step by step, and put your final answer within \boxed{}.
A conversation between User and Assistant. The User asks a question, and the Assistant solves it.
Answer the following question. Give only the final answer after ####.
Below is a problem. Write a solution that answers it.
Below is an instruction that describes a task. Write a response that appropriately completes the request.
Think carefully before you answer. End with "The answer is X".
You are given a problem. First think about it, then give the answer.
system: you are a friendly and patient teacher
Your task is to solve the problem below. Explain each step.
### Instruction:
You will be given a question. Respond with a short derivation and a final result.
Read the question, work it out, and write the result on the last line.
As a tutor, explain how you get the result.
You are Qwen, created by Alibaba Cloud. You are a helpful assistant.
Solve this problem. Do not use a calculator.
Help the user with this homework problem.
Be concise. Put the result in \boxed{}.
Answer in English. Write your reasoning before the answer.
Let's work through this problem.
You are an AI assistant that is good at reasoning. Please solve:
"""

BEHIND = r"""
Let's think step by step and output the final answer after "####".
Let's think step by step and output the final answer within \boxed{}.
Please reason step by step, and put your final answer within \boxed{}.
Please put your final answer within \boxed{}.
Solve step by step.
Let's think step by step.
Remember to put your answer on its own line after "Answer:".
Give the final answer only.
Put the final answer in \boxed{}.
Write the answer at the end as "The answer is ...".
End your response with "Final answer: <answer>".
Show your reasoning.
Explain how you got there.
Return the result in the format #### <number>.
Your answer should be a number or a short expression.
### Response:
Answer:
Solution:
A:
Output only the result.
Format your answer as \boxed{answer}.
Please show all your work and state the result clearly.
"""
