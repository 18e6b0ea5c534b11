"""Campaigns scored by a linear model of one penalty, for tests in which it does not matter which model it is.

Trees take their time, and so do the eighteen fits by which a penalty is chosen.
"""


def use_linear_model(setting=setattr):
    """Score campaigns so from now on; scikit-learn is imported with the first score, as usual."""
    from cellworth.campaign.assessment import scoring_model

    def linear(table, seed):
        use_one_penalty(setting)
        assert table.target is not None
        return "ridge regression" if table.target.label_kind == "number" else "logistic regression"

    setting(scoring_model, "choose_in_use", linear)


def use_one_penalty(setting=setattr):
    """Fit linear models with one penalty from now on, as if no class had a row for each fold."""
    from cellworth.model import learners

    setting(learners, "INNER_FOLDS", 10**9)
