r"""A published learned policy, DIME, written anew from its paper; needs PyTorch.

Gadgil, Covert and Lee, "Estimating Conditional Mutual Information for Dynamic Feature Selection" (ICLR 2024).
Two networks see a row whose unknown cells are 0, and which cells are known: a predictor :math:`f(x_S)`, and
values :math:`v_j(x_S)`, one per column. Rows are followed cell by cell. At each step the predictor learns the
label from what is known, and the value of the column that is taken learns by how much its cell lowers the
predictor's loss,

.. math:: v_j(x_S) \approx \ell(f(x_S), y) - \ell(f(x_{S \cup j}), y),

whose mean is the mutual information of the cell and the label, given what is known. The column of the
highest value per price is taken, now and then a random one. With the stop rule of the paper that compares
with ours, a row ends when no value per price is above a level.

Ours, because the paper leaves it open or its tables are larger: batches of 64 rows; 5 epochs without progress
before the rate of learning falls; the level, so that a fifth of the training rows, on which nothing was
learnt, spend the mean; marginal prices in place of constant ones, where cells share a fee; values of a number
are kept positive, of classes below the entropy of the prediction, as in the paper.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from cellworth.arrays import BoolArray, Float64Array
from cellworth.prices import PriceList
from cellworth.table import ColumnLayout

HIDDEN, DROPOUT, RATE, LEAST_RATE = 128, 0.3, 1e-3, 1e-6
BATCH, PATIENCE, MOST_EPOCHS = 64, 5, 200
EXPLORATION, DECAY, DECAYS = 0.05, 0.2, 3
HELD_OUT = 0.2
LEAST_SPENT = 0.5
"""If rows that stop at a level would spend less of the mean than this, each has the mean as its limit."""


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Complete rows to learn from, as networks want them.

    Attributes
    ----------
    layout : ColumnLayout
    centre, spread : (d,) arrays
        By which encoded columns are standardised.
    cells : (n, d) tensor
    labels : (n,) tensor
        Class numbers, or standardised numbers.
    outputs : int
        K classes, or 1.
    label_centre, label_spread : float
        By which numbers are standardised.
    """

    layout: ColumnLayout
    centre: Float64Array
    spread: Float64Array
    cells: Tensor
    labels: Tensor
    outputs: int
    label_centre: float = 0.0
    label_spread: float = 1.0

    @classmethod
    def of(cls, layout: ColumnLayout, X: Float64Array, y: Float64Array, classes: int) -> TrainingRows:
        """Prepare complete encoded rows X (n, d) with labels y (n,); no classes if they are numbers."""
        spread = X.std(axis=0)
        centre, spread = X.mean(axis=0), np.where(spread > 0, spread, 1.0)
        cells = torch.tensor((X - centre) / spread, dtype=torch.float32)
        if classes:
            return cls(layout, centre, spread, cells, torch.tensor(y, dtype=torch.int64), classes)
        middle, scale = float(y.mean()), float(y.std()) or 1.0
        labels = torch.tensor((y - middle) / scale, dtype=torch.float32)
        return cls(layout, centre, spread, cells, labels, 1, middle, scale)

    def standardised(self, X: Float64Array) -> Tensor:
        """Return encoded rows as networks see them, 0 where missing."""
        return torch.tensor(np.nan_to_num((X - self.centre) / self.spread), dtype=torch.float32)


class LearnedPolicy:
    """DIME, trained on complete rows.

    Parameters
    ----------
    rows : TrainingRows
    prices : PriceList
        Of one new row with p columns.
    seed : int
    """

    def __init__(self, rows: TrainingRows, prices: PriceList, seed: int) -> None:
        torch.manual_seed(seed)
        self._rows, self._prices = rows, prices
        self._p = len(rows.layout.columns)
        self._alone = torch.tensor(prices.marginal(np.zeros((1, self._p), dtype=bool)), dtype=torch.float32)
        self._owner = torch.tensor(np.asarray(rows.layout.owner), dtype=torch.int64)
        width = rows.cells.shape[1] + self._p
        self._predictor, self._value = _network(width, rows.outputs), _network(width, self._p)
        order = torch.randperm(len(rows.cells))
        held = max(1, round(HELD_OUT * len(order)))
        self._validation, self._training = order[:held], order[held:]
        self._train(self._masked_batch, self._masked_loss, [*self._predictor.parameters()], [0.0])
        both = [*self._predictor.parameters(), *self._value.parameters()]
        explored = [EXPLORATION * DECAY**k for k in range(DECAYS)]
        self._train(self._followed_batch, self._followed_loss, both, explored)
        self._predictor.eval()
        self._value.eval()

    def known(self, X: Float64Array, buyable: BoolArray, mean: float) -> BoolArray:
        """Return which cells (m, p) of new rows are bought with a mean of money per row.

        Parameters
        ----------
        X : (m, d) array
            Encoded rows; the policy sees no cell before it is bought.
        buyable : (m, p) array of bool
        mean : float
        """
        validation = self._rows.cells[self._validation]
        everything = np.ones((len(validation), self._p), dtype=bool)
        steps = self._bought(validation, everything, -math.inf, math.inf)[1]
        level = _level(steps, mean * len(validation))
        spent = sum(price for ratio, price in steps if ratio > level) / len(validation)
        cells = self._rows.standardised(X)
        if spent >= LEAST_SPENT * mean or level == 0:
            return self._bought(cells, buyable, level, math.inf)[0]
        return self._bought(cells, buyable, -math.inf, mean)[0]

    def predicted(self, X: Float64Array, known: BoolArray) -> Float64Array:
        """Return the predictor's own outputs (m, K) for encoded rows, given which cells are known."""
        with torch.no_grad():
            raw = self._predictor(self._seen(self._rows.standardised(X), torch.tensor(known)))
        if self._rows.outputs == 1:
            return self._rows.label_centre + self._rows.label_spread * np.asarray(raw, dtype=np.float64)
        return np.asarray(raw.softmax(dim=1), dtype=np.float64)

    def _bought(
        self, cells: Tensor, buyable: BoolArray, level: float, limit: float
    ) -> tuple[BoolArray, list[tuple[float, float]]]:
        """Return what is bought (m, p), and of each step the least value per price so far, and its price."""
        known, steps = np.zeros((len(cells), self._p), dtype=bool), list[tuple[float, float]]()
        spent, least = np.zeros(len(cells)), np.full(len(cells), np.inf)
        prices = self._prices.of_rows(np.zeros(len(cells), dtype=np.intp))
        active = np.arange(len(cells))
        while len(active):
            with torch.no_grad():
                values = np.asarray(self._values(cells[active], torch.tensor(known[active])))
            price = prices.marginal(known)[active]
            left = buyable[active] & ~known[active] & (spent[active, np.newaxis] + price <= limit + 1e-9)
            ratio = np.where(left, values / price, -np.inf)
            best = ratio.argmax(axis=1)
            every = np.arange(len(active))
            least[active] = np.minimum(least[active], ratio[every, best])
            buys = np.isfinite(ratio[every, best]) & (least[active] > level)
            active, best, paid = active[buys], best[buys], price[every, best][buys]
            known[active, best] = True
            spent[active] += paid
            steps += zip(least[active].tolist(), paid.tolist(), strict=True)
        return known, steps

    def _train(
        self,
        train_on: Callable[[Tensor, float], None],
        validation_loss: Callable[[], float],
        parameters: list[nn.Parameter],
        exploration: list[float],
    ) -> None:
        """Train until the loss of held-out rows no longer falls, once for each rate of exploration."""
        networks = nn.ModuleList([self._predictor, self._value])
        best, kept = math.inf, deepcopy(networks.state_dict())
        for explored in exploration:
            optimiser = torch.optim.Adam(parameters, lr=RATE)
            falling = torch.optim.lr_scheduler.ReduceLROnPlateau(
                optimiser, factor=0.2, patience=PATIENCE, min_lr=LEAST_RATE
            )
            without_progress = 0
            for _ in range(MOST_EPOCHS):
                networks.train()
                order = self._training[torch.randperm(len(self._training))]
                for batch in order.split(BATCH):
                    optimiser.zero_grad()
                    train_on(batch, explored)
                    optimiser.step()
                networks.eval()
                with torch.no_grad():
                    loss = validation_loss()
                falling.step(loss)
                without_progress = 0 if loss < best else without_progress + 1
                if loss < best:
                    best, kept = loss, deepcopy(networks.state_dict())
                if without_progress > PATIENCE + 1:
                    break
            networks.load_state_dict(kept)

    def _masked_batch(self, batch: Tensor, _: float) -> None:
        """Train the predictor on rows of which a random number of cells is known."""
        known = torch.rand(len(batch), self._p) < torch.rand(len(batch), 1)
        self._loss(batch, known)[0].mean().backward()

    def _masked_loss(self) -> float:
        generator = torch.Generator().manual_seed(0)
        size = len(self._validation), self._p
        known = torch.rand(size, generator=generator) < torch.rand(size[0], 1, generator=generator)
        return float(self._loss(self._validation, known)[0].mean())

    def _followed_batch(self, batch: Tensor, explored: float) -> None:
        """Follow rows cell by cell; train both networks at each step."""
        known = torch.zeros(len(batch), self._p, dtype=torch.bool)
        loss, outputs = self._loss(batch, known)
        (loss.mean() / (self._p + 1)).backward()
        every = torch.arange(len(batch))
        for _ in range(self._p):
            values = self._values(self._rows.cells[batch], known, outputs.detach())
            ratio = torch.where(known, -math.inf, values.detach() / self._alone)
            random = torch.where(known, -math.inf, torch.rand(known.shape)).argmax(dim=1)
            chosen = torch.where(torch.rand(len(batch)) < explored, random, ratio.argmax(dim=1))
            known = known.clone()
            known[every, chosen] = True
            before = loss.detach()
            loss, outputs = self._loss(batch, known)
            error = (values[every, chosen] - (before - loss.detach())) ** 2
            ((error.mean() + loss.mean()) / (self._p + 1)).backward()

    def _followed_loss(self) -> float:
        cells = self._rows.cells[self._validation]
        known = torch.zeros(len(cells), self._p, dtype=torch.bool)
        losses = [float(self._loss(self._validation, known)[0].mean())]
        for _ in range(self._p):
            ratio = torch.where(known, -math.inf, self._values(cells, known) / self._alone)
            known[torch.arange(len(cells)), ratio.argmax(dim=1)] = True
            losses.append(float(self._loss(self._validation, known)[0].mean()))
        return float(np.mean(losses))

    def _seen(self, cells: Tensor, known: Tensor) -> Tensor:
        """Return what the networks see of rows: cells (m, d), 0 where not known, and the mask (m, p)."""
        return torch.cat([cells * known[:, self._owner], known.to(cells.dtype)], dim=1)

    def _loss(self, rows: Tensor, known: Tensor) -> tuple[Tensor, Tensor]:
        """Return the predictor's loss (m,) on training rows, and its outputs (m, K)."""
        outputs = self._predictor(self._seen(self._rows.cells[rows], known))
        labels = self._rows.labels[rows]
        if self._rows.outputs == 1:
            return (outputs[:, 0] - labels) ** 2, outputs
        return nn.functional.cross_entropy(outputs, labels, reduction="none"), outputs

    def _values(self, cells: Tensor, known: Tensor, outputs: Tensor | None = None) -> Tensor:
        """Return what each cell (m, p) is expected to lower the loss by; not negative."""
        seen = self._seen(cells, known)
        raw = self._value(seen)
        if self._rows.outputs == 1:
            return nn.functional.softplus(raw)
        probabilities = (self._predictor(seen) if outputs is None else outputs).softmax(dim=1)
        entropy = torch.special.entr(probabilities).sum(dim=1, keepdim=True)
        return torch.sigmoid(raw) * entropy.detach()


def _network(width: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(width, HIDDEN),
        nn.ReLU(),
        nn.Dropout(DROPOUT),
        nn.Linear(HIDDEN, HIDDEN),
        nn.ReLU(),
        nn.Dropout(DROPOUT),
        nn.Linear(HIDDEN, outputs),
    )


def _level(steps: list[tuple[float, float]], money: float) -> float:
    """Return the smallest value per price so that the steps above it cost no more than the money."""
    spent = 0.0
    for ratio, price in sorted(steps, reverse=True):
        spent += price
        if spent > money * (1 + 1e-9):
            return ratio
    return 0.0
