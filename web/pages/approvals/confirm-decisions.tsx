import { openLayer } from '../../ground/layer-store.ts'
import { formatMoney, plural } from '../../parts/format.ts'
import { nameJob } from '../../parts/server-text.ts'
import { showToast } from '../../parts/toasts.tsx'
import { type ApprovalRow, computeCostMax, countGpus } from './approval-row.ts'
import { decide, type Verdict } from './decide.ts'

const words = {
  APPROVE: { title: 'Approve', effect: 'queued', command: 'approve' },
  REJECT: { title: 'Reject', effect: 'failed', command: 'reject' },
} as const
const commandIdsMax = 5

/** "3 jobs are queued: 12 GPUs, at most EUR 430.00." */
function describeEffect(verdict: Verdict, rows: readonly ApprovalRow[]): string {
  const gpus = rows.reduce((sum, row) => sum + countGpus(row), 0)
  const costs = rows.map(computeCostMax)
  const [first] = costs
  const isOneCurrency = first && costs.every((cost) => cost?.currency === first.currency)
  const amount = costs.reduce((sum, cost) => sum + (cost?.amount ?? 0), 0)
  const asked = [
    gpus > 0 && plural(gpus, 'GPU'),
    isOneCurrency && `at most ${formatMoney({ amount, currency: first.currency })}`,
  ].filter(Boolean)
  const are = rows.length === 1 ? 'is' : 'are'
  return `${plural(rows.length, 'job')} ${are} ${words[verdict].effect}${asked.length > 0 ? `: ${asked.join(', ')}` : ''}.`
}

/** Asks for confirmation, and decides several requests with one comment. */
export function confirmDecisions(
  verdict: Verdict,
  rows: readonly ApprovalRow[],
  onDone: (decided: readonly ApprovalRow[]) => void,
): void {
  const { title, command } = words[verdict]
  const ids = rows.slice(0, commandIdsMax).map(({ job }) => job.id)
  const reason = verdict === 'REJECT' ? ' --reason TEXT' : ''
  openLayer({
    kind: 'CONFIRM',
    confirmation: {
      title: `${title} ${plural(rows.length, 'request')}?`,
      effect: describeEffect(verdict, rows),
      jobs: rows.map(({ job }) => job),
      command: `berth ${command} ${ids.join(' ')}${rows.length > commandIdsMax ? ' …' : ''}${reason}`,
      confirmText: `${title} ${plural(rows.length, 'request')}`,
      keepText: 'Back',
      hasReason: true,
      async run(text) {
        if (verdict === 'REJECT' && text.trim() === '') return 'Give a reason: the requesters see it.'
        const { decided, refused } = await decide({ verdict, rows, words: text })
        onDone(decided)
        for (const { row, message } of refused.slice(0, 3))
          showToast(`${nameJob(row.job)}: ${message}`, { isTrouble: true })
        showToast(`Decided ${plural(decided.length, 'request')}`)
        return null
      },
    },
  })
}
