import { parse as parseYaml, stringify } from 'yaml'
import { isScript, joinWords, splitWords } from './command-words.ts'

/** Converts the value of a spec field to the text in the form, and back. */
export interface FieldText {
  /** Returns the text of a value; null: no text can express it, so it is edited in YAML. */
  format: (value: unknown) => string | null
  /** Returns the value of a text; undefined: remove the field. Returns an invalid text unchanged for the server to refuse. */
  parse: (text: string) => unknown
  isLong?: boolean
  placeholder?: string
}

const orNothing = (text: string) => (text === '' ? undefined : text)

const plain: FieldText = {
  format: (value) => (value === undefined ? '' : typeof value === 'object' ? null : String(value)),
  parse: orNothing,
}

const number: FieldText = {
  ...plain,
  parse: (text) => (/^\s*-?(\d+\.?\d*|\.\d+)(e\d+)?\s*$/i.test(text) ? Number(text) : orNothing(text)),
}

/** A list with an item on each line. */
function lines<Item>(formatItem: (item: Item) => string | null, parseItem: (line: string) => unknown): FieldText {
  return {
    isLong: true,
    format(value) {
      if (value === undefined) return ''
      if (!Array.isArray(value)) return null
      const texts = (value as Item[]).map(formatItem)
      return texts.some((text) => text === null || /[\r\n]/.test(text)) ? null : texts.join('\n')
    },
    parse(text) {
      const items = text.split('\n').filter((line) => line.trim() !== '')
      return items.length === 0 ? undefined : items.map(parseItem)
    },
  }
}

const list = lines<unknown>(
  (item) => (typeof item === 'object' ? null : String(item)),
  (line) => line.trim(),
)

const numbers: FieldText = {
  format: (value) => (value === undefined ? '' : Array.isArray(value) ? value.join(', ') : null),
  parse: (text) => {
    const items = text.split(/[\s,]+/).filter((item) => item !== '')
    return items.length === 0 ? undefined : items.map((item) => number.parse(item))
  },
  placeholder: '0, 1',
}

/** A list of objects with two string fields, written as `first=second`. */
const pairs = (first: string, second: string): FieldText => ({
  ...lines<Record<string, unknown>>(
    (item) => {
      const { [first]: key, [second]: value, ...rest } = item ?? {}
      const isPlain = typeof key === 'string' && typeof value === 'string' && !key.includes('=')
      return isPlain && key.trim() === key && Object.keys(rest).length === 0 ? `${key}=${value}` : null
    },
    (line) => {
      const end = line.indexOf('=')
      return end === -1
        ? { [first]: line.trim(), [second]: '' }
        : { [first]: line.slice(0, end).trim(), [second]: line.slice(end + 1) }
    },
  ),
})

const dependencies: FieldText = {
  ...lines<{ jobId?: unknown; on?: unknown }>(
    (item) => (typeof item?.jobId === 'string' ? [item.jobId, item.on].filter(Boolean).join(' ') : null),
    (line) => {
      const [jobId = '', on] = line.trim().split(/\s+/)
      return { jobId, ...(on && { on: on.toUpperCase() }) }
    },
  ),
  placeholder: 'job_… SUCCEEDED',
}

const ports: FieldText = {
  ...lines<{ port?: unknown; targetPort?: unknown; protocol?: unknown }>(
    (item) => {
      if (item?.port === undefined) return null
      const target = item.targetPort === undefined ? '' : `:${item.targetPort}`
      return `${item.port}${target}${item.protocol === undefined ? '' : `/${item.protocol}`}`
    },
    (line) => {
      const [place = '', protocol] = line.trim().split('/')
      const [port = '', targetPort] = place.split(':')
      return {
        port: number.parse(port) ?? '',
        ...(targetPort !== undefined && { targetPort: number.parse(targetPort) }),
        ...(protocol && { protocol: protocol.toUpperCase() }),
      }
    },
  ),
  placeholder: '80:8080/TCP',
}

const object: FieldText = {
  isLong: true,
  format: (value) => (value === undefined ? '' : stringify(value, { lineWidth: 0 }).trimEnd()),
  parse(text) {
    try {
      return text.trim() === '' ? undefined : (parseYaml(text) as unknown)
    } catch {
      return text
    }
  },
  placeholder: 'name: value',
}

const unitSeconds = { d: 86_400, h: 3_600, min: 60, m: 60, s: 1 } as const

export function formatSeconds(seconds: number): string {
  let rest = seconds
  const parts = (['d', 'h', 'min', 's'] as const).flatMap((unit) => {
    const count = unit === 's' ? Number(rest.toFixed(3)) : Math.floor(rest / unitSeconds[unit])
    rest -= count * unitSeconds[unit]
    return count > 0 ? [`${count} ${unit}`] : []
  })
  return parts.length === 0 ? '0' : parts.join(' ')
}

/** A duration: "2 h", "1 h 30 min", "90m". A number without a unit is seconds. */
const duration: FieldText = {
  format: (value) => (typeof value === 'number' && value >= 0 ? formatSeconds(value) : plain.format(value)),
  parse(text) {
    const alone = number.parse(text)
    if (typeof alone !== 'string') return alone
    if (!/^\s*(\d+(\.\d+)?\s*(d|h|min|m|s)\s*)+$/.test(text)) return text
    const found = [...text.matchAll(/(\d+(?:\.\d+)?)\s*(d|h|min|m|s)/g)]
    return found.reduce(
      (sum, [, count, unit]) => sum + Number(count) * unitSeconds[unit as keyof typeof unitSeconds],
      0,
    )
  },
  placeholder: '2 h',
}

const unitBytes = { TiB: 2 ** 40, GiB: 2 ** 30, MiB: 2 ** 20, KiB: 2 ** 10 } as const

/** An amount of bytes: "16 GiB". A number without a unit is GiB. */
const amount: FieldText = {
  format(value) {
    if (typeof value !== 'number') return plain.format(value)
    const unit = (['TiB', 'GiB', 'MiB', 'KiB'] as const).find(
      (each) => value >= unitBytes[each] && Number.isInteger((value / unitBytes[each]) * 4),
    )
    return unit && value > 0 ? `${value / unitBytes[unit]} ${unit}` : `${value} B`
  },
  parse(text) {
    const [, count, letter = 'g'] = text.match(/^\s*(\d+(?:\.\d+)?)\s*([kmgtb])?(?:i?b)?\s*$/i) ?? []
    if (count === undefined) return orNothing(text)
    const units: Record<string, number> = { k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40, b: 1 }
    return Math.round(Number(count) * (units[letter.toLowerCase()] ?? 1))
  },
  placeholder: '16 GiB',
}

const pad = (value: number) => String(value).padStart(2, '0')

/** A time in the local time zone, in the format of `datetime-local`. */
const moment: FieldText = {
  format(value) {
    if (value === undefined) return ''
    const at = new Date(String(value))
    if (Number.isNaN(at.getTime())) return null
    return `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}T${pad(at.getHours())}:${pad(at.getMinutes())}`
  },
  parse: (text) => (text === '' ? undefined : new Date(text).toISOString()),
}

/** A list of names on one line: "A100, !V100". */
const names: FieldText = {
  format: (value) => (value === undefined ? '' : Array.isArray(value) ? value.join(', ') : null),
  parse: (text) => {
    const items = text.split(',').map((item) => item.trim())
    return items.every((item) => item === '') ? undefined : items.filter((item) => item !== '')
  },
}

/** `WORDS`: a program with arguments. `SCRIPT`: a shell script. */
export type CommandMode = 'WORDS' | 'SCRIPT'

export function parseCommand(mode: CommandMode, text: string): readonly string[] | undefined {
  if (text.trim() === '') return undefined
  return mode === 'SCRIPT' ? ['sh', '-c', text] : splitWords(text)
}

/** Returns the command as text; null: it can only be edited in YAML. */
export function formatCommand(value: unknown): { mode: CommandMode; text: string } | null {
  if (value === undefined) return { mode: 'WORDS', text: '' }
  if (!Array.isArray(value) || value.some((word) => typeof word !== 'string')) return null
  if (isScript(value) && value[0] === 'sh') return { mode: 'SCRIPT', text: value[2] }
  return { mode: 'WORDS', text: joinWords(value) }
}

const byPath: Readonly<Record<string, FieldText>> = {
  maxRunTimeSeconds: duration,
  durationSeconds: duration,
  'resources.memoryGib': amount,
  'resources.gpuMemoryGib': amount,
  'resources.gpuModel': { ...names, placeholder: 'any' },
  'resources.cpuModel': { ...names, placeholder: 'any' },
}

const byType: Readonly<Record<string, FieldText>> = {
  Int: number,
  Float: number,
  UInt53: number,
  DateTime: moment,
  JSONObject: object,
  '[String!]': list,
  '[Int!]': numbers,
  '[EnvironmentVariableInput!]': { ...pairs('name', 'value'), placeholder: 'NAME=value' },
  '[LabelInput!]': { ...pairs('key', 'value'), placeholder: 'key=value' },
  '[DependencyInput!]': dependencies,
  '[InternalDnsPortInput!]': ports,
}

export const findFieldText = (path: string, type: string): FieldText =>
  byPath[path] ?? byType[type.replace(/!$/, '')] ?? plain
