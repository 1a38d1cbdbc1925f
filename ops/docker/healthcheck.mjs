// Exits with 0 if the server of this container is alive. A lost database is no reason to start the container again.
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
process.removeAllListeners('warning')
for (const scheme of ['http', 'https'])
  try {
    const { ok } = await fetch(`${scheme}://127.0.0.1:${process.env.BERTH_PORT}/healthz`)
    process.exit(ok ? 0 : 1)
  } catch {
    // The server may serve the other scheme.
  }
process.exit(1)
