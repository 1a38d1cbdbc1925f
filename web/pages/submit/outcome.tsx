import { Link } from '@tanstack/react-router'
import { describeScope, formatAmount, quotaActions, quotaTypes } from '../../features/policies/quota-texts.ts'
import { useNow } from '../../ground/server-clock.ts'
import { formatClock, formatCount, formatMoney, plural } from '../../parts/format.ts'
import { formatServerText, nameJob } from '../../parts/server-text.ts'
import { StateGlyph } from '../../parts/state-glyph.tsx'
import { formatSeconds } from './field-texts.ts'
import styles from './outcome.module.css'
import type { DryRun, Preview } from './use-dry-run.ts'

interface OutcomeProps {
  dryRun: DryRun
  /** Number of jobs that the form submits. */
  count: number
  onShowField: (path: string) => void
}

/** Shows what the server predicts for the current input. */
export function Outcome({ dryRun, count, onShowField }: OutcomeProps) {
  const { preview, refusal, violations, failure, isPending } = dryRun
  return (
    <section className={styles.outcome} aria-label="What would happen" aria-live="polite" data-pending={isPending}>
      <h2>What would happen</h2>
      {!preview && !refusal && !failure && violations.length === 0 && (
        <p className={styles.faint}>
          {isPending ? 'Asking the server…' : 'Write a command to see when and where it would start.'}
        </p>
      )}
      {preview && <Prediction preview={preview} count={count} />}
      {violations.length > 0 && (
        <>
          <p className={styles.refused}>The server would refuse {plural(violations.length, 'value')}:</p>
          <ul className={styles.violations}>
            {violations.map(({ path, message }) => (
              <li key={`${path} ${message}`}>
                {path !== '' && (
                  <button type="button" onClick={() => onShowField(path)}>
                    {path}
                  </button>
                )}
                <span>{formatServerText(message)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      {refusal && violations.length === 0 && (
        <p className={styles.refused}>Would be refused: {formatServerText(refusal.message)}</p>
      )}
      {failure && <p className={styles.faint}>No prediction: {failure.message}</p>}
    </section>
  )
}

function Prediction({ preview, count }: { preview: Preview; count: number }) {
  const { cost, approval, quotas, warnings, preempts, preemptedCount, idempotentJob, spec } = preview
  const hidden = preemptedCount - preempts.length
  const { resources } = spec
  return (
    <>
      {idempotentJob && (
        <p className={styles.refused}>
          This form is submitted: <JobLink job={idempotentJob} />
        </p>
      )}
      {!idempotentJob && <Start preview={preview} />}
      <dl className={styles.facts}>
        <dt>Costs at most</dt>
        <dd>
          {cost ? formatMoney(cost) : 'unknown'}
          {cost && count > 1 && ` each, ${formatMoney({ ...cost, amount: cost.amount * count })} together`}
        </dd>
        <dt>Gets</dt>
        <dd>
          {resources.cpu} CPU, {formatGib(resources.memoryBytes)}
          {resources.gpu > 0 && `, ${plural(resources.gpu, 'GPU')}`}
          {resources.replicas > 1 && ` × ${resources.replicas}`} on {spec.executor.toLowerCase()}
        </dd>
        <dt>Ends after</dt>
        <dd>
          {spec.maxRunTimeSeconds !== null ? `${formatSeconds(spec.maxRunTimeSeconds)} at the latest` : 'no limit'}
        </dd>
        <dt>Approval</dt>
        <dd>
          {approval
            ? `${approval.requiredLevel.toLowerCase()} or above${approval.rule ? `, rule ${approval.rule.name}` : ''}`
            : 'none'}
        </dd>
        {preemptedCount > 0 && (
          <>
            <dt>Preempts</dt>
            <dd>
              {preempts.map((job) => (
                <JobLink key={job.id} job={job} />
              ))}
              {hidden > 0 && ` ${plural(hidden, 'job')} that you may not see`}
            </dd>
          </>
        )}
        {quotas.map((quota) => (
          <Quota
            key={`${quota.type} ${quota.scope.kind} ${quota.scope.name} ${quota.limit}`}
            quota={quota}
            count={count}
            currency={cost?.currency ?? null}
          />
        ))}
      </dl>
      {warnings.length > 0 && (
        <ul className={styles.warnings}>
          {warnings.map((text) => (
            <li key={text}>{formatServerText(text)}</li>
          ))}
        </ul>
      )}
    </>
  )
}

const gib = 2 ** 30
const formatGib = (bytes: number) => `${Number((bytes / gib).toFixed(2))} GiB`

const JobLink = ({ job }: { job: { id: string; name: string | null } }) => (
  <Link to="/jobs/$id" params={{ id: job.id }} className={styles.job}>
    {nameJob(job)}
  </Link>
)

interface QuotaProps {
  quota: Preview['quotas'][number]
  count: number
  currency: string | null
}

function Quota({ quota, count, currency }: QuotaProps) {
  const { type, scope, limit, used, usedAfter, action } = quota
  const after = usedAfter === null ? null : used + (usedAfter - used) * count
  const isOver = after === null || after > limit
  return (
    <>
      <dt>{quotaTypes[type]}</dt>
      <dd className={isOver ? styles.over : undefined}>
        {after === null ? 'without a bound' : formatAmount(type, after, currency)} of{' '}
        {formatAmount(type, limit, currency)} for {scope.kind === 'USER' ? scope.name : describeScope(scope)}
        {isOver && `: a submission ${quotaActions[action]}`}
      </dd>
    </>
  )
}

const formatGpus = (ids: readonly number[]) =>
  ids.length === 0
    ? ''
    : `, GPU ${[ids.slice(0, -1).join(', '), ids.at(-1)].filter((part) => part !== '').join(' and ')}`

/** "Starts now on gpu3, GPU 0 and 1". */
export function formatOutcome({ wouldBe, nodeNames, gpuIds, position }: Preview): string {
  if (wouldBe === 'STARTING')
    return `Starts now${nodeNames.length > 0 ? ` on ${nodeNames.join(', ')}${formatGpus(gpuIds)}` : ''}`
  if (wouldBe === 'BLOCKED') return 'Waits for an approval'
  if (wouldBe === 'FAILED') return 'Fails at once'
  return position === null ? 'Waits' : `Waits at position ${formatCount(position)}`
}

/** Shows when and where the job would start, or why it would wait. */
function Start({ preview }: { preview: Preview }) {
  const nowMs = useNow()
  const { wouldBe, reasons, estimatedStart, fit } = preview
  const from = estimatedStart?.earliest && formatClock(Date.parse(estimatedStart.earliest), nowMs)
  const latest = estimatedStart?.latest ?? estimatedStart?.p90
  const until = latest && formatClock(Date.parse(latest), nowMs)
  return (
    <div className={styles.start}>
      <p className={styles.state}>
        <StateGlyph state={wouldBe} />
        <strong>{formatOutcome(preview)}</strong>
      </p>
      {wouldBe === 'QUEUED' && from && (
        <p>{until && until !== from ? `Starts between ${from} and ${until}` : `Starts at ${from} at the earliest`}</p>
      )}
      {wouldBe === 'QUEUED' && estimatedStart?.earliest === null && <p>{formatServerText(estimatedStart.message)}</p>}
      {wouldBe !== 'STARTING' && reasons.map(({ message }) => <p key={message}>{formatServerText(message)}</p>)}
      {wouldBe === 'QUEUED' && fit && !fit.couldEverFit && (
        <p className={styles.refused}>
          No node of the pool could ever run this: {formatServerText(fit.missing.join('; '))}
        </p>
      )}
    </div>
  )
}
