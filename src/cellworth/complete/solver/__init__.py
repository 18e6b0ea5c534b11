"""The numeric kernels. They know arrays only; the paper's symbols stay in here."""
