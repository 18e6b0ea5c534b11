"""Write clinic.csv, the made-up patients of the tutorial: ``python make_clinic.py``.

Nobody's data: all columns follow from one hidden number per patient, "severity", plus noise.
"""

import csv
from datetime import date, timedelta
from pathlib import Path

import numpy as np

N_PATIENTS = 200
HEADER = ["id", "age", "sex", "stage", "cholesterol", "glucose", "pressure", "culture", "visit", "outcome"]
SHARE_OF_HOLES = {
    "age": 0.03,
    "stage": 0.10,
    "cholesterol": 0.25,
    "glucose": 0.25,
    "pressure": 0.10,
    "culture": 0.30,
}


def rows() -> list[list[object]]:
    """Return the cells of all patients, "?" or an empty text where there is none."""
    rng = np.random.default_rng(2024)
    age = np.clip(rng.normal(58, 13, N_PATIENTS), 21, 92).round().astype(int)
    severity = 0.04 * (age - 58) + rng.normal(0, 1, N_PATIENTS)
    cholesterol = (205 + 22 * severity + rng.normal(0, 14, N_PATIENTS)).round().astype(int)
    glucose = np.exp(4.65 + 0.16 * severity + rng.normal(0, 0.10, N_PATIENTS)).round(1)
    pressure = (131 + 9 * severity + 0.2 * (age - 58) + rng.normal(0, 7, N_PATIENTS)).round().astype(int)
    stage = np.digitize(severity + rng.normal(0, 0.3, N_PATIENTS), [-0.8, 0.3, 1.3])
    culture = np.digitize(severity + rng.normal(0, 0.6, N_PATIENTS), [0.2, 0.9])
    female = rng.random(N_PATIENTS) < 0.5
    back = rng.random(N_PATIENTS) < 1 / (1 + np.exp(-(1.6 * severity - 0.4)))
    days = rng.integers(0, 366, N_PATIENTS)
    cells: list[list[object]] = [
        [
            f"P{i + 1:03d}",
            age[i],
            "f" if female[i] else "m",
            ("I", "II", "III", "IV")[stage[i]],
            cholesterol[i],
            glucose[i],
            pressure[i],
            ("sterile", "cocci", "rods")[culture[i]],
            date(2023, 1, 1) + timedelta(days=int(days[i])),
            "readmitted" if back[i] else "recovered",
        ]
        for i in range(N_PATIENTS)
    ]
    for name, share in SHARE_OF_HOLES.items():
        for i in np.flatnonzero(rng.random(N_PATIENTS) < share):
            # The laboratory writes "?" for a lost sample; other holes are blank.
            cells[i][HEADER.index(name)] = "?" if name in ("glucose", "culture") else ""
    return cells


def main(path: Path) -> None:
    """Write the file."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerows(rows())


if __name__ == "__main__":
    main(Path(__file__).with_name("clinic.csv"))
