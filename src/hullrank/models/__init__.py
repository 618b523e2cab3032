"""The estimators: thin, in scikit-learn's conventions; each states a problem and stores its certified solution."""
