"""The experiments of Huang et al. (KDD 2018): its six tables and its protocol."""
