"""Writes tests/data/rows/verl.parquet: two rows as verl keeps them, with lists and nested columns.

    pip install pyarrow && python scripts/golden_rows.py
"""
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = [
    {
        "data_source": "openai/gsm8k",
        "prompt": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": question},
        ],
        "reward_model": {"style": "rule", "ground_truth": answer},
        "extra_info": {"index": index, "split": "train"},
        "responses": responses,
    }
    for index, (question, answer, responses) in enumerate(
        [
            ("Tom has 12 apples and buys 5. How many?", "17", ["12 + 5 = 17", "12 + 5 = 18"]),
            ("Ann has 9 pens and loses 4. How many?", "5", ["9 - 4 = 5", "9 - 4 = 6"]),
        ]
    )
]

if __name__ == "__main__":
    pq.write_table(pa.Table.from_pylist(ROWS), "tests/data/rows/verl.parquet", compression="zstd")
