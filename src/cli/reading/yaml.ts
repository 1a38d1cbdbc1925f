import { isUtf8 } from 'node:buffer'
import { parseDocument } from 'yaml'
import { usageError } from '../frame/exit.ts'

/** Parses YAML. Refuses values that JSON does not have, and YAML with warnings, such as an unknown tag. */
export function readYaml(yaml: string, what: string): unknown {
  const refused = (why: string) => usageError(`${what} is not YAML: ${why}`)
  const document = parseDocument(yaml, { logLevel: 'error' })
  const [problem] = [...document.errors, ...document.warnings]
  if (problem?.code === 'MULTIPLE_DOCS') throw refused('it has more than one document')
  if (problem) throw refused((problem.message.split('\n')[0] ?? '').replace(/:$/, ''))
  try {
    const value = document.toJS()
    demandJson(value, what)
    return value
  } catch (error) {
    if (error instanceof ReferenceError) throw refused(error.message)
    throw error
  }
}

function demandJson(value: unknown, what: string): void {
  const demandFinite = (key: string, inner: unknown) => {
    if (typeof inner === 'number' && !Number.isFinite(inner))
      throw usageError(`${what}: ${[key, inner].filter((part) => part !== '').join(' is ')}`, 'give a finite number')
    return inner
  }
  try {
    JSON.stringify(value, demandFinite)
  } catch (error) {
    if (error instanceof TypeError) throw usageError(`${what} has an alias (*) that contains itself`)
    throw error
  }
}

export function decodeUtf8(bytes: Buffer, what: string): string {
  if (!isUtf8(bytes)) throw usageError(`${what} is not in UTF-8`, 'save it as UTF-8')
  return bytes.toString('utf8')
}
