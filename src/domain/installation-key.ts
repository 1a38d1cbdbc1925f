import type { Domain } from './domain.ts'

const keys = new WeakMap<Domain, Promise<Uint8Array>>()

/** The secret from which tokens of runs and download tickets are derived. Read once per domain. */
export function loadInstallationKey(domain: Domain): Promise<Uint8Array> {
  const known = keys.get(domain)
  if (known) return known
  const reading = readKey(domain)
  keys.set(domain, reading)
  reading.catch(() => keys.delete(domain))
  return reading
}

async function readKey({ db }: Domain): Promise<Uint8Array> {
  const row = await db.prisma.runTokenKey.findFirst()
  if (!row) throw new Error('The row of run_token_key is missing')
  return row.key
}
