import { execFileSync } from 'node:child_process'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import WebSocket from 'ws'
import { readCertificate } from '../../../src/graphql/transport/certificate.ts'
import { makeDirectory } from '../../support/directory.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { until } from '../../support/until.ts'

const streams = 200

describe('a server with a certificate', () => {
  const directory = makeDirectory()
  let files: { cert: string; key: string }
  let server: TestServer

  /** Writes a self-signed certificate with a serial number. */
  async function writeCertificate(serial: string): Promise<void> {
    const [cert, key] = [join(directory, 'new.crt'), join(directory, 'new.key')]
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
    const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
    execFileSync('openssl', ['req', ...kind, '-set_serial', serial, ...subject, '-keyout', key, '-out', cert], {
      stdio: 'ignore',
    })
    await rename(key, files.key)
    await rename(cert, files.cert)
  }
  const port = () => Number(new URL(server.url).port)
  const readSerial = () =>
    new Promise<string>((resolve, reject) => {
      const socket = connect({ port: port(), host: '127.0.0.1', rejectUnauthorized: false }, () => {
        resolve(socket.getPeerCertificate().serialNumber)
        socket.destroy()
      })
      socket.once('error', reject)
    })

  beforeAll(async () => {
    files = { cert: join(directory, 'tls.crt'), key: join(directory, 'tls.key') }
    await writeCertificate('0x11')
    server = await startServer({ tls: { files, certificate: await readCertificate(files) } })
  })
  afterAll(() => server?.[Symbol.asyncDispose]())

  /** Opens a stream whose heartbeats show that it continues. */
  function openStream(jobId: string, ca: Buffer) {
    const socket = new WebSocket(`wss://127.0.0.1:${port()}/graphql`, 'graphql-transport-ws', { ca })
    const stream = { socket, messages: 0, isClosed: false }
    socket.on('open', () => socket.send('{"type":"connection_init"}'))
    socket.on('message', (data) => {
      const { type } = JSON.parse(String(data)) as { type: string }
      const query = `subscription { jobStatus(jobId: "${jobId}") { __typename } }`
      if (type === 'connection_ack') socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }))
      if (type === 'next') stream.messages++
    })
    socket.on('close', () => (stream.isClosed = true))
    socket.on('error', () => (stream.isClosed = true))
    return stream
  }

  it('uses a renewed certificate without closing open streams', async () => {
    expect(server.url).toMatch(/^https:/)
    const jobId = await server.submit()
    const ca = await readFile(files.cert)
    const open = Array.from({ length: streams }, () => openStream(jobId, ca))
    await until(() => open.every(({ messages }) => messages > 0), { what: 'all streams have begun' })
    await writeCertificate('0x22')
    await until(async () => (await readSerial()) === '22', { what: 'new connections get the new certificate' })
    const before = open.map(({ messages }) => messages)
    await until(() => open.every(({ messages }, i) => messages > (before[i] ?? 0)), { what: 'the streams go on' })
    expect(open.filter(({ isClosed }) => isClosed)).toEqual([])
    for (const { socket } of open) socket.terminate()
  })

  it('keeps the old certificate while the new key does not match, and does not start with such files', async () => {
    const key = await readFile(files.key)
    await writeFile(files.key, 'no key')
    await expect(readCertificate(files)).rejects.toThrow()
    expect(await readSerial()).toBe('22')
    await writeFile(files.key, key)
  })
})
