import { Link } from '@tanstack/react-router'
import { Pencil } from 'lucide-react'
import { type FormEvent, useEffect, useId, useRef, useState } from 'react'
import type { LimitName } from '../../features/policies/limit-effects.ts'
import { useMay } from '../../ground/use-may.ts'
import { Button } from '../../parts/button.tsx'
import { type Refusal, refusal, refusalOf } from '../../parts/form.tsx'
import { formatCount, formatDuration, plural } from '../../parts/format.ts'
import { changeLimits } from './change-limits.ts'
import { describeEffect } from './limit-effect.ts'
import type { LineRow, WorkloadPanel } from './use-workload.ts'
import styles from './workload.module.css'

interface Limit {
  key: LimitName
  title: string
  /** Returns the current number of jobs or GPUs; null: the limit applies to each user or team. */
  inUse: (panel: WorkloadPanel) => number | null
}

const none = () => null

const limits: readonly Limit[] = [
  { key: 'maxConcurrent', title: 'Running jobs of the pool', inUse: ({ running }) => running },
  { key: 'userMaxConcurrent', title: 'Running jobs of each user', inUse: none },
  { key: 'teamMaxConcurrent', title: 'Running jobs of each team', inUse: none },
  { key: 'localJobMaxConcurrent', title: 'Running jobs with GPUs', inUse: none },
  {
    key: 'localGpuMaxConcurrent',
    title: 'GPUs in use',
    inUse: ({ pool }) => pool.used.gpu,
  },
  { key: 'userMaxActive', title: 'Unfinished jobs of each user', inUse: none },
  { key: 'userMaxBlocked', title: 'Jobs of each user that wait for approval', inUse: none },
]

interface LimitsProps {
  panel: WorkloadPanel
  rows: readonly LineRow[]
  /** The limit that is being edited; null: none. */
  editing: LimitName | null
  onEdit: (key: LimitName | null) => void
}

/** The limits of a pool. Viewers with the permission edit them in place, and see the effect before they save. */
export function Limits({ panel, rows, editing, onEdit }: LimitsProps) {
  const mayChange = useMay()('LIMITS_WRITE')
  const { limits: now } = panel.pool
  return (
    <section aria-labelledby="limits">
      <h2 id="limits">Limits</h2>
      <dl className={styles.limits}>
        {limits.map(({ key, title, inUse }) => (
          <div key={key}>
            <dt>{title}</dt>
            <dd>
              {editing === key ? (
                <LimitForm key={key} limit={key} title={title} panel={panel} rows={rows} onClose={() => onEdit(null)} />
              ) : (
                <LimitValue
                  title={title}
                  value={now[key]}
                  inUse={inUse(panel)}
                  onEdit={mayChange ? () => onEdit(key) : null}
                />
              )}
            </dd>
          </div>
        ))}
        <FairShareSwitch panel={panel} mayChange={mayChange} />
      </dl>
      <OtherRules panel={panel} />
      {!mayChange && (
        <p className={styles.faint}>Changing limits needs the permission limits.write, which an administrator gives.</p>
      )}
    </section>
  )
}

interface LimitValueProps {
  title: string
  value: number | null
  inUse: number | null
  onEdit: (() => void) | null
}

function LimitValue({ title, value, inUse, onEdit }: LimitValueProps) {
  const used = inUse === null ? '' : `${formatCount(inUse)} of `
  const limit = value === null ? 'unlimited' : formatCount(value)
  const text = (
    <>
      {used && <span className={styles.faint}>{used}</span>}
      <b>{limit}</b>
    </>
  )
  if (!onEdit) return text
  return (
    <button type="button" className={styles.edit} aria-label={`${used}${limit}. Change: ${title}`} onClick={onEdit}>
      {text}
      <Pencil size={12} />
    </button>
  )
}

const readLimit = (text: string): number | null | undefined => {
  if (text.trim() === '') return null
  return /^\d{1,9}$/.test(text.trim()) ? Number(text) : undefined
}

interface LimitFormProps {
  limit: LimitName
  title: string
  panel: WorkloadPanel
  rows: readonly LineRow[]
  onClose: () => void
}

function LimitForm({ limit, title, panel, rows, onClose }: LimitFormProps) {
  const { pool } = panel
  const [text, setText] = useState(() => String(pool.limits[limit] ?? ''))
  // The version when editing began, so that the server refuses to overwrite a later change of another user.
  const [version, setVersion] = useState(pool.limits.version)
  const [found, setFound] = useState<Refusal | null>(null)
  const [isBusy, setBusy] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const id = useId()
  useEffect(() => field.current?.select(), [])
  const value = readLimit(text)
  const isOutdated = version !== pool.limits.version
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (isBusy) return
    if (value === undefined) return setFound(refusal('Write a whole number, or nothing for unlimited.'))
    setBusy(true)
    const next = await changeLimits({ pool: pool.name, [limit]: value, expectedVersion: version }).catch(refusalOf)
    setBusy(false)
    if (next === null) return onClose()
    setFound(next)
    setVersion(pool.limits.version)
    field.current?.focus()
  }
  return (
    <form className={styles.limitForm} onSubmit={(event) => void submit(event)}>
      <input
        ref={field}
        aria-label={title}
        aria-describedby={id}
        aria-invalid={found !== null}
        inputMode="numeric"
        placeholder="unlimited"
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={({ key }) => key === 'Escape' && onClose()}
      />
      <Button look="primary" type="submit" disabled={isBusy}>
        Save
      </Button>
      <Button onClick={onClose}>Cancel</Button>
      <small id={id}>
        {found ? (
          <span role="alert" className={styles.refusal}>
            {found.message}
          </span>
        ) : (
          value !== undefined && describeEffect(limit, value, { panel, rows })
        )}
        {isOutdated && ` Someone changed the limits: this one is ${pool.limits[limit] ?? 'unlimited'} now.`}
      </small>
    </form>
  )
}

function FairShareSwitch({ panel: { pool }, mayChange }: { panel: WorkloadPanel; mayChange: boolean }) {
  const [message, setMessage] = useState('')
  const [isBusy, setBusy] = useState(false)
  const { enableFairShare, version } = pool.limits
  const change = async () => {
    setBusy(true)
    const input = { pool: pool.name, enableFairShare: !enableFairShare, expectedVersion: version }
    const next = await changeLimits(input).catch(refusalOf)
    setBusy(false)
    setMessage(next?.message ?? '')
  }
  return (
    <div>
      <dt>Fair share among teams</dt>
      <dd>
        <label className={styles.switch}>
          <input
            type="checkbox"
            role="switch"
            aria-checked={enableFairShare}
            aria-label="Fair share: enforce the limit of teams"
            checked={enableFairShare}
            disabled={!mayChange || isBusy}
            onChange={() => void change()}
          />
          {enableFairShare ? 'the limit of teams is enforced' : 'the limit of teams is not enforced'}
        </label>
        {message !== '' && (
          <span role="alert" className={styles.refusal}>
            {message}
          </span>
        )}
      </dd>
    </div>
  )
}

/** Lists rules of the pool that other pages change. */
function OtherRules({ panel: { pool } }: { panel: WorkloadPanel }) {
  const { starvationThresholdSeconds, scopes } = pool.limits
  const ages = pool.policy === 'PRIORITY' && starvationThresholdSeconds !== null
  return (
    <p className={styles.rules}>
      {ages && `Each wait of ${formatDuration(starvationThresholdSeconds * 1_000)} raises a job by 10, up to 30. `}
      {scopes.slice(0, scopesShown).map((limit) => `${describeScope(limit)}. `)}
      <Link to="/policies/$part" params={{ part: 'limits' }} className={styles.link}>
        {scopes.length === 0
          ? 'Limits of queues, projects, teams and users'
          : `All ${plural(scopes.length, 'other limit')}`}
      </Link>
    </p>
  )
}

const scopesShown = 5

/** "User ann: 2 of 4 jobs, 3 of 8 GPUs a100". */
function describeScope({
  scope: { kind, name },
  gpuModel,
  maxJobs,
  jobsInUse,
  maxGpus,
  gpusInUse,
}: WorkloadPanel['pool']['limits']['scopes'][number]) {
  const parts = [
    maxJobs !== null && `${jobsInUse} of ${plural(maxJobs, 'job')}`,
    maxGpus !== null && `${gpusInUse} of ${plural(maxGpus, 'GPU')}${gpuModel === null ? '' : ` ${gpuModel}`}`,
  ]
  return `${kind.charAt(0)}${kind.slice(1).toLowerCase()} ${name}: ${parts.filter(Boolean).join(', ')}`
}
