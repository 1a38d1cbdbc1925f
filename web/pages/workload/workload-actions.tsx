import { useState } from 'react'
import { ProcessPoolDocument } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { openLayer } from '../../ground/layer-store.ts'
import { useMay } from '../../ground/use-may.ts'
import { Button } from '../../parts/button.tsx'
import { plural } from '../../parts/format.ts'
import { isRefused } from '../../parts/refusal.ts'
import { showToast } from '../../parts/toasts.tsx'
import { changeLimits } from './change-limits.ts'
import { CleanUpForm } from './clean-up-form.tsx'
import type { WorkloadPanel } from './use-workload.ts'

interface WorkloadActionsProps {
  panel: WorkloadPanel
  /** Opens the form for the limit that pauses the pool. */
  onResume: () => void
}

/** Buttons for the actions that the viewer may take. */
export function WorkloadActions({ panel, onResume }: WorkloadActionsProps) {
  const may = useMay()
  const [isBusy, setBusy] = useState(false)
  const { pool } = panel
  const process = async () => {
    setBusy(true)
    await processPool(pool.name).catch((error: unknown) => showToast(String(error), { isTrouble: true }))
    setBusy(false)
  }
  return (
    <>
      {may('POOL_PLAN') && (
        <Button disabled={isBusy} onClick={() => void process()}>
          Process now
        </Button>
      )}
      {may('LIMITS_WRITE') &&
        (pool.paused ? (
          <Button onClick={onResume}>Resume…</Button>
        ) : (
          <Button onClick={() => confirmPause(panel)}>Pause…</Button>
        ))}
      {may('JOB_DELETE_ALL') && (
        <Button
          onClick={() =>
            openLayer({ kind: 'FORM', title: 'Clean up', content: (close) => <CleanUpForm onClose={close} /> })
          }
        >
          Clean up…
        </Button>
      )}
    </>
  )
}

async function processPool(pool: string) {
  const { planPools } = await client.request(ProcessPoolDocument, { input: { pool } }, { attempts: 4 })
  if (isRefused(planPools)) return showToast(planPools.message, { isTrouble: true })
  const { considered, started, preempted } = planPools
  const more = preempted > 0 ? `, preempted ${plural(preempted, 'run')}` : ''
  showToast(`Considered ${plural(considered, 'job')}, started ${started}${more}`)
}

function confirmPause({ pool, depth, running }: WorkloadPanel) {
  const { maxConcurrent, version } = pool.limits
  openLayer({
    kind: 'CONFIRM',
    confirmation: {
      title: `Pause ${pool.name}?`,
      effect: `${plural(running, 'running job')} will continue. ${plural(depth, 'queued job')} will not start until the limit of running jobs, ${maxConcurrent ?? 'unlimited'} now, is above 0 again.`,
      command: `berth limits set --pool ${pool.name} --max-concurrent 0`,
      confirmText: 'Pause the pool',
      keepText: 'Keep it open',
      run: async () => {
        const found = await changeLimits({ pool: pool.name, maxConcurrent: 0, expectedVersion: version })
        return found?.message ?? null
      },
    },
  })
}
