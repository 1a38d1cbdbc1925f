import { z } from 'zod'
import { webhookEventTypes, webhooksMax } from '../domain/webhooks/event-types.ts'
import { findDuplicates, section } from './keys.ts'
import { type ConfigProblem, formatProblem, list, map, name, shortText, value, word } from './value.ts'

/** `webhooks:` of the configuration file. */

const urlCharactersMax = 2_048

const names = (example: string) => list(shortText(example)).optional()

const webhookFilter = section({
  pools: names('gpu'),
  queues: names('default'),
  users: names('ann'),
  teams: names('vision'),
  accounts: names('ml.vision'),
  projects: names('imagenet'),
  labels: map(
    z.string({ error: ({ input }) => formatProblem(`${JSON.stringify(input)} is not a string`, 'put it in quotes') }),
  ).optional(),
  name: shortText('"train-*"').optional(),
})

/** The URL may contain a secret, so error messages do not show it. */
export const webhookSection = section({
  name: name('slack'),
  url: value<string>(
    {
      what: `an https or http URL without user, password and fragment, of at most ${urlCharactersMax} characters`,
      example: 'https://hooks.example.org/berth',
      secret: true,
    },
    isUrl,
  ),
  secret: value<string | readonly string[]>(
    {
      what: 'a secret of Standard Webhooks (whsec_ and 24 to 64 bytes in base64), or a list [new, old] of two',
      example: 'the output of: echo "whsec_$(openssl rand -base64 32)"',
      secret: true,
    },
    (input) => (Array.isArray(input) ? [1, 2].includes(input.length) && input.every(isSecret) : isSecret(input)),
  ),
  events: list(word(webhookEventTypes)).optional(),
  filter: webhookFilter.prefault({}),
})

type WebhookEntry = z.output<typeof webhookSection>

export interface WebhookConfig extends Readonly<Pick<WebhookEntry, 'name' | 'url' | 'filter'>> {
  /** The newest secret is the first. */
  readonly secrets: readonly string[]
  /** Types of events; null: all types. */
  readonly events: readonly string[] | null
}

export const toWebhookConfig = ({ name: called, url, secret, events, filter }: WebhookEntry): WebhookConfig => ({
  name: called,
  url,
  secrets: typeof secret === 'string' ? [secret] : secret,
  events: events ?? null,
  filter,
})

export function checkWebhooks(webhooks: readonly WebhookEntry[]): ConfigProblem[] {
  const tooMany = {
    path: 'webhooks',
    reason: `has ${webhooks.length} entries`,
    remedy: `keep at most ${webhooksMax}`,
  }
  const empty = webhooks.flatMap(({ events }, index) =>
    events?.length === 0
      ? [{ path: `webhooks[${index}].events`, reason: 'is empty', remedy: 'name a type, or remove the key for all' }]
      : [],
  )
  return [...(webhooks.length > webhooksMax ? [tooMany] : []), ...empty, ...findDuplicates('webhooks', webhooks)]
}

function isUrl(input: unknown): boolean {
  const parsed = typeof input === 'string' && input.length <= urlCharactersMax ? URL.parse(input) : null
  if (!parsed || !/^https?:$/.test(parsed.protocol)) return false
  return parsed.username === '' && parsed.password === '' && parsed.hash === ''
}

function isSecret(input: unknown): boolean {
  if (typeof input !== 'string' || !/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(input)) return false
  const key = Buffer.from(input.slice('whsec_'.length), 'base64')
  return key.length >= 24 && key.length <= 64
}
