import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import {
  EnableWebhookDocument,
  ResendWebhookDeliveriesDocument,
  TestWebhookDocument,
  WebhookDeliveryDocument,
  type WebhookDeliveryRowFragment,
  WebhookDeliveryRowFragmentDoc,
  WebhookDetailsDocument,
  type WebhookEventType,
  type WebhookRowFragment,
  WebhookRowFragmentDoc,
  WebhooksDocument,
} from '../../client/generated/graphql.ts'
import { type Cli, mutate } from '../frame/cli.ts'
import { exitCodes, Stop } from '../frame/exit.ts'
import { addOutputOption, createRowPrinter, isTable, type OutputOptions, printObject } from '../showing/output.ts'
import { formatSheet, formatTime, table } from '../showing/render.ts'

/** A delivery attempt may take 15 s. */
const testMsMax = 20_000
const pollMs = 250

const seeWebhooks = '"berth webhooks" lists the webhooks'

export function registerWebhooksCommand(program: Command, cli: Cli): void {
  const webhooks = program.command('webhooks').description('show, test and repair webhooks')
  addOutputOption(webhooks.command('ls', { isDefault: true }))
    .description('list the webhooks of the configuration')
    .action(async ({ output }: OutputOptions) => {
      const answer = await cli.connection().request(WebhooksDocument, {})
      await print(cli, answer.webhooks, output)
    })
  addOutputOption(webhooks.command('show').argument('<name>'))
    .description('show a webhook and its deliveries')
    .action((name: string, options: OutputOptions) => show(cli, name, options))
  addOutputOption(webhooks.command('test').argument('<name>'), [WebhookDeliveryRowFragmentDoc])
    .description('send a test event and show its outcome; exit code 1: the first try failed')
    .action((name: string, options: OutputOptions) => test(cli, name, options))
  webhooks
    .command('resend')
    .argument('<name>')
    .argument('[delivery...]')
    .description('send deliveries again now (default: those that wait, then the oldest dead ones)')
    .action(async (webhook: string, ids: string[]) => {
      const input = { webhook, deliveryIds: ids.length > 0 ? ids : undefined }
      const { count } = await mutate(cli, ResendWebhookDeliveriesDocument, input)
      await cli.terminal.write(`${count}\n`)
    })
  addOutputOption(webhooks.command('enable').argument('<name>'), [WebhookRowFragmentDoc])
    .description('enable a webhook that its receiver ended with status 410')
    .action(async (webhook: string, { output }: OutputOptions) => {
      await print(cli, [(await mutate(cli, EnableWebhookDocument, { webhook })).webhook], output)
    })
}

const print = createRowPrinter<WebhookRowFragment>([
  { title: 'NAME', cell: ({ name }) => name },
  { title: 'STATE', cell: formatState },
  { title: 'TARGET', cell: ({ target }) => target },
  { title: 'UNREAD', cell: ({ unread }) => String(unread) },
  { title: 'PENDING', cell: ({ pending }) => String(pending) },
  { title: 'DEAD', cell: ({ dead }) => String(dead), style: ({ dead }) => (dead > 0 ? 'red' : 'green') },
  { title: 'EVENTS', cell: eventsText, wide: true },
])

function formatState({ disabledAt }: WebhookRowFragment): string {
  return disabledAt === null ? 'enabled' : 'disabled'
}

/** JOB_FAILED → job.failed, as in webhooks and the configuration. */
const formatEventType = (type: WebhookEventType): string => type.toLowerCase().replace('_', '.')

function eventsText({ eventTypes }: WebhookRowFragment): string {
  return eventTypes.length === 0 ? 'all' : eventTypes.map(formatEventType).join(' ')
}

const deliveryColumns = [
  { title: 'ID', cell: ({ id }: WebhookDeliveryRowFragment) => id },
  { title: 'TYPE', cell: ({ eventType }: WebhookDeliveryRowFragment) => formatEventType(eventType) },
  { title: 'JOB', cell: ({ job }: WebhookDeliveryRowFragment) => job?.id ?? '-' },
  { title: 'STATE', cell: ({ state }: WebhookDeliveryRowFragment) => state },
  { title: 'TRIES', cell: ({ tries }: WebhookDeliveryRowFragment) => String(tries) },
  { title: 'NEXT', cell: ({ nextTryAt }: WebhookDeliveryRowFragment) => formatTime(nextTryAt) ?? '-' },
  { title: 'ERROR', cell: ({ error }: WebhookDeliveryRowFragment) => error ?? '-' },
]
const printDeliveries = createRowPrinter<WebhookDeliveryRowFragment>(deliveryColumns)

async function show(cli: Cli, name: string, { output }: OutputOptions): Promise<void> {
  const { webhooks } = await cli.connection().request(WebhookDetailsDocument, { name })
  const [webhook] = webhooks
  if (!webhook) throw new Stop(exitCodes.notFound, `Webhook ${name} not found`, seeWebhooks)
  const { terminal } = cli
  const lines = [
    ['name', webhook.name],
    ['target', webhook.target],
    ['state', formatState(webhook)],
    ['disabled', webhook.disabledAt && `${formatTime(webhook.disabledAt)}: ${webhook.disabledReason}`],
    ['events', eventsText(webhook)],
    ['filter', Object.keys(webhook.filter).length === 0 ? 'none' : JSON.stringify(webhook.filter)],
    ['unread', String(webhook.unread)],
    ['pending', `${webhook.pending}${webhook.pendingSince ? ` since ${formatTime(webhook.pendingSince)}` : ''}`],
    ['dead', String(webhook.dead)],
  ] as const
  const deliveries = [webhook.deadDeliveries, webhook.pendingDeliveries, webhook.delivered].flatMap(
    ({ nodes }) => nodes,
  )
  const rows = () => (deliveries.length === 0 ? '' : `\n${table(terminal, deliveries, deliveryColumns)}`)
  await printObject(cli, webhook, output, () => `${formatSheet(terminal, lines)}${rows()}`)
}

async function test(cli: Cli, webhook: string, { output }: OutputOptions): Promise<void> {
  const first = await mutate(cli, TestWebhookDocument, { webhook })
  const delivery = await waitForTry(cli, first.delivery)
  await printDeliveries(cli, [delivery], output)
  if (delivery.state === 'DELIVERED') return
  if (isTable(output)) cli.terminal.say(`berth: ${delivery.error ?? 'no server has sent the event yet'}`)
  cli.exitWith(exitCodes.unexpected)
}

/** Polls a delivery until its first attempt has a result, or until `testMsMax` have passed. */
async function waitForTry(cli: Cli, first: WebhookDeliveryRowFragment): Promise<WebhookDeliveryRowFragment> {
  let delivery = first
  const { id } = first
  for (let waitedMs = 0; waitedMs < testMsMax; waitedMs += pollMs) {
    if (delivery.state === 'DELIVERED' || delivery.error !== null) break
    await sleep(pollMs)
    const { node } = await cli.connection().request(WebhookDeliveryDocument, { id })
    if (node?.__typename === 'WebhookDelivery') delivery = node
  }
  return delivery
}
