import { readFileSync } from 'node:fs'
import { uploadSnapshot } from '../src/client/files/index.ts'
import { createClient } from '../src/client/jobs/client.ts'

/** A child process of the benchmark of files: sends one folder, and reports time, memory and bytes. */
const [url = '', folder = '', cacheFolder] = process.argv.slice(2)

export interface Sent {
  id: string
  newFiles: number
  sentBytes: number
  tookMs: number
  /** Sum of the response times of all requests. */
  serverMs: number
  /** Bytes read from files and sockets. */
  readBytes: number
  residentBytesMax: number
}

const readBytes = () => Number(/^rchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'latin1'))?.[1])

let serverMs = 0
const { fetch } = globalThis
globalThis.fetch = async (...args: Parameters<typeof fetch>) => {
  const began = performance.now()
  try {
    return await fetch(...args)
  } finally {
    serverMs += performance.now() - began
  }
}

const client = createClient({ url })
const before = readBytes()
const began = performance.now()
const { id, newFiles, sentBytes } = await uploadSnapshot(client, folder, { cacheFolder })
const sent: Sent = {
  id,
  newFiles,
  sentBytes,
  tookMs: performance.now() - began,
  serverMs,
  readBytes: readBytes() - before,
  residentBytesMax: process.resourceUsage().maxRSS * 1024,
}
await client.close()
process.send?.(sent)
process.disconnect?.()
