import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import type { Executor, RunSpec } from '../../../src/executors/executor.ts'
import { kubectl, onlyNode } from './real-cluster.ts'

/** Serves snapshots at the address of the node, instead of a server, to pods with the token of the run. */
export async function startSnapshotServer() {
  const { metadata } = await onlyNode()
  const path = 'jsonpath={.status.addresses[?(@.type=="InternalIP")].address}'
  const address = await kubectl('get', 'node', metadata.name, '-o', path)
  const runs = new Map<string, RunSpec>()
  const server = createServer(({ url = '', headers: { authorization } }, response) => {
    const run = runs.get(authorization ?? '')
    if (!run?.openSnapshot || url !== `/download/jobs/${run.jobId}/snapshot`) return void response.writeHead(404).end()
    Readable.from(run.openSnapshot()).pipe(response)
  }).listen(0, address)
  await once(server, 'listening')
  const url = `http://${address}:${(server.address() as AddressInfo).port}`
  return {
    /** Starts runs of this executor with the address and a token. */
    attach<T extends Executor>(executor: T): T {
      const start = executor.start.bind(executor)
      executor.start = (run, ...rest) => {
        const token = `token of ${run.runId}`
        runs.set(`Bearer ${token}`, run)
        return start({ ...run, injected: { ...run.injected, BERTH_URL: url, BERTH_TOKEN: token } }, ...rest)
      }
      return executor
    },
    close: () => server.close(),
  }
}
