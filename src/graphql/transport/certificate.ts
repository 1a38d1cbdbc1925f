import { readFile } from 'node:fs/promises'
import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https'
import { createSecureContext } from 'node:tls'
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { createLoop, type Loop } from '../../platform/loop.ts'

/** Paths of PEM files: the certificate with its chain, and the private key. */
export interface CertificateFiles {
  cert: string
  key: string
}

export interface Certificate {
  cert: Buffer
  key: Buffer
}

const lookMs = 5_000

/** Reads a certificate. Throws if a file cannot be read, or if the key belongs to another certificate. */
export async function readCertificate({ cert, key }: CertificateFiles): Promise<Certificate> {
  const read = { cert: await readFile(cert), key: await readFile(key) }
  createSecureContext(read)
  return read
}

export interface Tls {
  files: CertificateFiles
  certificate: Certificate
}

/** Creates a server for HTTPS if there is a certificate, otherwise for HTTP. */
export const createWebServer = (
  tls: Tls | null,
  options: ServerOptions,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): HttpServer =>
  tls === null
    ? createHttpServer(options, handle)
    : (createHttpsServer({ ...options, ...tls.certificate }, handle) as unknown as HttpServer)

/**
 * Uses a renewed certificate for new connections. Compares files by content, because Kubernetes replaces mounted secrets
 * behind symbolic links. While certificate and key do not match, the former certificate stays in use.
 */
export function watchCertificate(
  server: HttpServer,
  { files, certificate }: Tls,
  { clock, log }: { clock: Clock; log: Log },
): Loop {
  let known = certificate
  const runOnce = async () => {
    try {
      const next = await readCertificate(files)
      if (next.cert.equals(known.cert) && next.key.equals(known.key)) return
      const https = server as unknown as HttpsServer
      https.setSecureContext(next)
      known = next
      log.info({ cert: files.cert }, 'serving with the renewed certificate')
    } catch (error) {
      log.warn({ err: error, cert: files.cert }, 'the certificate cannot be used; the former one stays')
    }
  }
  return createLoop({ name: 'certificate', pollMs: lookMs, runOnce, clock, log })
}
