"""A small training by Lightning: python lightning_training.py PACKAGE PROFILE DEVICES ACCUMULATE"""

import importlib
import sys
import time

import torch
from torch.utils.data import DataLoader, TensorDataset

from scavsim.record.lightning import recorder_callback

PACKAGE, PROFILE, DEVICES, ACCUMULATE = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
lightning = importlib.import_module(PACKAGE)


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4))

    def training_step(self, batch, _):
        time.sleep(0.004)
        return torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])

    def validation_step(self, batch, _):
        time.sleep(0.5)  # which no step may show
        self.log("val_loss", torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1]), sync_dist=True)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    x = torch.randn(1024, 32)
    data = TensorDataset(x, (x @ torch.randn(32, 4)).argmax(1))
    told = {"vm": "box", "skip": 5, "every": 20, "look": 5, "monitor": "val_loss", "target": 1.3, "mode": "min"}
    trainer = lightning.Trainer(
        accelerator="cpu", devices=DEVICES, strategy="ddp" if DEVICES > 1 else "auto", max_epochs=3, accumulate_grad_batches=ACCUMULATE,
        val_check_interval=16, limit_val_batches=1, logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False, callbacks=[recorder_callback(PROFILE, **told)],
    )
    trainer.fit(Model(), DataLoader(data, batch_size=16), DataLoader(data, batch_size=256))


if __name__ == "__main__":
    main()
