import {
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql'
import type { Random } from '../../simulate/random.ts'

/**
 * Values for arguments: some that a careful caller sends, and more that no caller should send. They are JSON;
 * `infinite` stands for a number in JSON that no double can represent.
 */
export const infinite = 'a number: 1e999'

/** Ids, cursors and names from responses. */
export interface Known {
  readonly ids: string[]
  readonly cursors: string[]
}

const texts = [
  '',
  'x',
  'a b',
  'sim',
  'local',
  'default',
  'true',
  '*a*a*a*a*a*b',
  '^(a+)+$',
  '[',
  '\0',
  'a\0b',
  '\ud800',
  '\udfff\ud800',
  '🙂'.repeat(100),
  'é',
  '\u202e\u0007\n\r\t',
  '__proto__',
  'constructor',
  'toString',
  "'; SELECT 1; --",
  '%_\\',
  '"}]',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: what a job would expand
  '${HOME}',
  '../../etc/passwd',
  '1e400',
  'NaN',
  '-1',
  'x'.repeat(255),
  'x'.repeat(256),
  'a'.repeat(70_000),
] as const

const ids = [
  '',
  'job_',
  'job_x',
  'run_x',
  'event_x_1',
  `event_x_${'9'.repeat(30)}`,
  'pool_sim',
  'user_',
  'node_\0',
  'x_y',
]

const cursorOf = (content: object) => Buffer.from(JSON.stringify({ v: 1, ...content })).toString('base64url')
const cursors = [
  '',
  'x',
  '\ud800',
  'e30',
  cursorOf({ k: 'pos', p: Number.MAX_SAFE_INTEGER }),
  cursorOf({ k: 'pos', p: 0 }),
  cursorOf({ k: 'seq', j: 'job_x', s: Number.MAX_SAFE_INTEGER }),
  cursorOf({ k: 'log', j: 'job_x', r: 2 ** 31 - 1, o: Number.MAX_SAFE_INTEGER, m: 'x' }),
  cursorOf({ k: 'list', l: 'jobs/CREATED_AT/DESC', f: 'x', key: ['9999-99-99 99:99:99+00', 'x'] }),
  'A'.repeat(5_000),
]

const ints = [0, 1, 2, 10, 100, 101, 5_000, -1, 2 ** 31 - 1, -(2 ** 31)]
const wrongInts = [2 ** 31, 1.5, 1e300, infinite, 'x', true, null, [1], {}]
const floats = [0, -0, 0.5, 1, 3, 1e9, -1, 1e308, -1e308, 5e-324, 2 ** 53]
const naturals = [0, 1, 2 ** 31, 2 ** 53 - 1, 2 ** 53, -1]
const dates = [
  '2026-01-31T12:00:00Z',
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00+14:00',
  '9999-12-31T23:59:59.999Z',
  '2026-02-30T00:00:00Z',
  '1970-01-01T00:00:00.123456789Z',
  '2026-01-31',
  '',
]

const deep = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`)
const objects = [
  {},
  { a: 1 },
  { a: '\0' },
  { '\ud800': 1 },
  JSON.parse('{"__proto__":{"x":1},"constructor":null}') as object,
  { list: Array.from({ length: 1_000 }, (_, i) => i) },
  deep(60),
  deep(2_000),
]

const pick = <T>(random: Random, from: readonly T[]): T => random.pick(from) as T

function leaf(type: string, random: Random, known: Known): unknown {
  switch (type) {
    case 'ID':
      return random.chance(0.6) && known.ids.length > 0 ? pick(random, known.ids) : pick(random, [...ids, ...texts])
    case 'Cursor':
      return random.chance(0.5) && known.cursors.length > 0 ? pick(random, known.cursors) : pick(random, cursors)
    case 'Int':
      return random.chance(0.95) ? pick(random, ints) : pick(random, wrongInts)
    case 'Float':
      return random.chance(0.95) ? pick(random, floats) : pick(random, wrongInts)
    case 'UInt53':
      return pick(random, naturals)
    case 'Boolean':
      return random.chance(0.5)
    case 'DateTime':
      return random.chance(0.4) ? dates[0] : pick(random, dates)
    case 'JSONObject':
      return pick(random, objects)
    default:
      return pick(random, texts)
  }
}

const lengths = [0, 1, 1, 1, 2, 3, 65, 300, 1_001]

/** A value of the type, with up to `depth` more levels of optional fields. */
export function randomValue(type: GraphQLInputType, random: Random, known: Known, depth = 4): unknown {
  if (!isNonNullType(type) && random.chance(0.05)) return null
  const nullable = getNullableType(type)
  if (isListType(nullable)) {
    const item = nullable.ofType as GraphQLInputType
    const one = () => randomValue(item, random, known, depth - 1)
    const length = pick(random, lengths)
    return length > 3 ? Array(length).fill(one()) : Array.from({ length }, one)
  }
  if (isEnumType(nullable)) return pick(random, nullable.getValues()).name
  if (!isInputObjectType(nullable)) return leaf(getNamedType(nullable).name, random, known)
  const fields = Object.values(nullable.getFields())
  const given = nullable.isOneOf
    ? [pick(random, fields)]
    : fields.filter((field) => isNonNullType(field.type) || (depth > 0 && random.chance(3 / fields.length)))
  const entries = given.map((field) => [field.name, randomValue(field.type, random, known, depth - 1)])
  return Object.fromEntries(random.chance(0.03) ? [...entries, [pick(random, texts), 1]] : entries)
}

/** The value as a GraphQL literal; null: no literal can represent it. */
export function formatLiteral(type: GraphQLInputType, value: unknown): string | null {
  if (value === infinite) return '1e999'
  if (value === null) return 'null'
  const nullable = getNullableType(type)
  if (isListType(nullable) && Array.isArray(value))
    return joined(
      value.map((item) => formatLiteral(nullable.ofType as GraphQLInputType, item)),
      '[',
      ']',
    )
  if (isInputObjectType(nullable)) {
    const fields = nullable.getFields()
    const parts = Object.entries(value as object).map(([name, inner]) => {
      const text = fields[name] ? formatLiteral(fields[name].type, inner) : null
      return text === null ? null : `${name}: ${text}`
    })
    return joined(parts, '{', '}')
  }
  if (isEnumType(nullable)) return String(value)
  return typeof value === 'object' ? null : JSON.stringify(value)
}

const joined = (parts: readonly (string | null)[], open: string, close: string): string | null =>
  parts.includes(null) || parts.length > 50 ? null : `${open}${parts.join(', ')}${close}`
