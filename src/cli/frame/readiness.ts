/** The response of /readyz, which needs neither a token nor the database. */
export interface ServerReadiness {
  ready: boolean
  database: string
  warnings: string[]
}

const readMsMax = 10_000

/** Reads /readyz; null: no Berth server answers at the URL. */
export async function readReadiness(url: string): Promise<ServerReadiness | null> {
  try {
    const response = await fetch(new URL('/readyz', url), { signal: AbortSignal.timeout(readMsMax) })
    const body = (await response.json()) as Partial<ServerReadiness>
    const { ready, database, warnings } = body
    if (typeof ready !== 'boolean' || typeof database !== 'string' || !Array.isArray(warnings)) return null
    return { ready, database, warnings: warnings.map(String) }
  } catch {
    return null
  }
}

export interface ExplainedOutage {
  problem: string
  nextCommands: readonly string[]
}

const databaseCommands: Readonly<Record<string, readonly string[]>> = {
  full: ['df -h', 'psql "$DATABASE_URL" -c "SELECT pg_size_pretty(pg_database_size(current_database()))"'],
  'read-only': ['psql "$DATABASE_URL" -c "SELECT pg_is_in_recovery()"'],
}

const reachDatabase = ['pg_isready -d "$DATABASE_URL"', 'journalctl -u berth --since -10min']

const databaseProblems: Readonly<Record<string, string>> = {
  full: 'the disk of its database is full',
  'read-only': 'its database is read-only',
  unavailable: 'it cannot reach its database',
  unknown: 'it is too overloaded to reach its database',
}

/** Explains why requests fail, with commands that find the cause. */
export function explainOutage(url: string, readiness: ServerReadiness | null, failure: string): ExplainedOutage {
  if (readiness === null)
    return {
      problem: `No Berth server answers at ${url}: ${failure}`,
      nextCommands: [`curl -i ${new URL('/healthz', url).href}`, 'systemctl status berth', 'berth up'],
    }
  const { database, warnings } = readiness
  const why = databaseProblems[database]
  const details = warnings.length > 0 ? ` (${warnings.join('; ')})` : ''
  if (why === undefined)
    return {
      problem: `The server at ${url} is up but refused the request: ${failure}${details}`,
      nextCommands: ['berth doctor', 'journalctl -u berth --since -10min'],
    }
  return {
    problem: `The server at ${url} is up, but ${why}${details}. Running jobs go on; jobs cannot be submitted, and none starts.`,
    nextCommands: databaseCommands[database] ?? reachDatabase,
  }
}
