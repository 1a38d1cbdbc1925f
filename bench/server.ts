import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, startBerth } from '../test/support/berth-process.ts'

/** A server on the embedded database in a folder of its own, gone afterwards. */
export async function withServer(
  work: (url: string) => Promise<void>,
  env: Record<string, string> = {},
): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'berth-bench-'))
  await chmod(dataDir, 0o711) // under root the database runs as another account
  try {
    const server = await startBerth({ dataDir, port: await freePort(), env })
    try {
      await work(server.url)
    } finally {
      await server.end()
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}
