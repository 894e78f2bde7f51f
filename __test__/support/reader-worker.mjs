// Reads what it is told, in a worker thread, and tells the contents or the codes.

import { parentPort, workerData } from "node:worker_threads";
import { readFile } from "../../index.js";

const outcomes = await Promise.all(
  workerData.paths.map((path) =>
    readFile(workerData.context, path).then(
      ({ content }) => content,
      ({ code }) => code,
    ),
  ),
);
parentPort.postMessage(outcomes);
