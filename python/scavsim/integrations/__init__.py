"""Where results go, and whose methods search: `mlflow`, `wandb`, `optuna`. Each needs the package of its name, when it is used."""
