"""Arrays for run.test, in the current folder."""
import numpy as np

np.save("x.npy", np.arange(12, dtype=np.float32).reshape(3, 4))
np.save("ones.npy", np.ones(4, np.float32))
np.save("a12.npy", np.arange(12, dtype=np.float32))
np.save("a13.npy", np.arange(13, dtype=np.float32))
np.save("int.npy", np.zeros((3, 4), np.int64))
