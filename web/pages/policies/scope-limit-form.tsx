import { toScopeInput } from '@berth-jobs/berth/client'
import { useState } from 'react'
import { ChangeScopeLimitDocument, type ScopeKind } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { openLayer } from '../../ground/layer-store.ts'
import { Button } from '../../parts/button.tsx'
import { mergeDraft } from '../../parts/changed-values.ts'
import { describeConflict } from '../../parts/conflict.ts'
import { Field, Form, type Refusal } from '../../parts/form.tsx'
import { plural, quoteShell } from '../../parts/format.ts'
import { isRefused, toRefusal } from '../../parts/refusal.ts'
import { showToast } from '../../parts/toasts.tsx'
import styles from './policies.module.css'
import { type PoolLimitsNow, readLimits } from './use-limits.ts'

type ScopeLimit = PoolLimitsNow['scopes'][number]
type LimitScope = Exclude<ScopeKind, 'GLOBAL' | 'LEVEL' | 'ACCOUNT' | 'POOL'>
const scopes: readonly LimitScope[] = ['QUEUE', 'PROJECT', 'TEAM', 'USER']

const toText = (limit: number | null | undefined) => (limit === null || limit === undefined ? '' : String(limit))

interface ScopeLimitFormProps {
  limits: PoolLimitsNow
  /** undefined: a new one. */
  limit: ScopeLimit | undefined
  onCancel: () => void
  onDone: () => void
}

const toValues = ({ scopes: all }: PoolLimitsNow) =>
  Object.fromEntries(
    all.map(({ scope: { kind, name }, gpuModel, maxJobs, maxGpus }) => [
      `${kind.toLowerCase()} ${name}${gpuModel ? ` on ${gpuModel}` : ''}`,
      [maxJobs !== null && `${maxJobs} jobs`, maxGpus !== null && `${maxGpus} GPUs`].filter(Boolean).join(', '),
    ]),
  )

interface Draft {
  scope: LimitScope
  name: string
  gpuModel: string
  jobs: string
  gpus: string
}

const toDraft = (limit: ScopeLimit | undefined): Draft => ({
  scope: (limit?.scope.kind ?? 'USER') as LimitScope,
  name: limit?.scope.name ?? '',
  gpuModel: limit?.gpuModel ?? '',
  jobs: toText(limit?.maxJobs),
  gpus: toText(limit?.maxGpus),
})

const isSameTarget = (one: ScopeLimit, other: ScopeLimit) =>
  one.scope.kind === other.scope.kind && one.scope.name === other.scope.name && one.gpuModel === other.gpuModel

/** A limit of one queue, project, team or user. */
export function ScopeLimitForm({ limits, limit, onCancel, onDone }: ScopeLimitFormProps) {
  const [base, setBase] = useState(limits)
  const [draft, setDraft] = useState(() => toDraft(limit))
  const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }))
  const find = ({ scopes: all }: PoolLimitsNow) => all.find((each) => limit && isSameTarget(each, limit))
  const save = async (): Promise<Refusal | null> => {
    const { scope, name, gpuModel, jobs, gpus } = draft
    const input = {
      pool: base.pool.name,
      scope: toScopeInput(scope, name.trim()),
      expectedVersion: base.version,
      ...(gpuModel.trim() && { gpuModel: gpuModel.trim() }),
      maxJobs: jobs === '' ? null : Number(jobs),
      maxGpus: gpus === '' ? null : Number(gpus),
    }
    const { setScopeLimit } = await client.request(ChangeScopeLimitDocument, { input }, { attempts: 4 })
    if (setScopeLimit.__typename === 'VersionConflictProblem') {
      const now = (await readLimits(base.pool.name)) ?? base
      setBase(now)
      setDraft(mergeDraft(draft, toDraft(find(base)), toDraft(find(now))))
      return describeConflict({ objectId: base.pool.id, before: toValues(base), now: toValues(now) })
    }
    if (isRefused(setScopeLimit)) return toRefusal(setScopeLimit)
    showToast(`Saved the limit of ${name}`)
    onDone()
    return null
  }
  return (
    <Form takesFocus submitText="Save" onCancel={onCancel} onSubmit={save}>
      {(refusal) => (
        <>
          <TargetFields draft={draft} isFixed={limit !== undefined} refusal={refusal} set={set} />
          <NumberFields draft={draft} limit={limit} refusal={refusal} set={set} />
          {limit && (
            <div className={styles.buttons}>
              <Button onClick={() => confirmRemove(base, limit, onDone)}>Remove…</Button>
            </div>
          )}
        </>
      )}
    </Form>
  )
}

interface FieldsProps {
  draft: Draft
  refusal: Refusal | null
  set: (change: Partial<Draft>) => void
}

const TargetFields = ({ draft, isFixed, refusal, set }: FieldsProps & { isFixed: boolean }) => (
  <>
    <div className={styles.pair}>
      <Field label="Limit of a" path="scope" refusal={refusal}>
        <select
          value={draft.scope}
          disabled={isFixed}
          onChange={({ target }) => set({ scope: target.value as LimitScope })}
        >
          {scopes.map((each) => (
            <option key={each} value={each}>
              {each.toLowerCase()}
            </option>
          ))}
        </select>
      </Field>
      <Field label="Name" path="scope" refusal={refusal}>
        <input
          value={draft.name}
          required
          readOnly={isFixed}
          spellCheck={false}
          onChange={({ target }) => set({ name: target.value })}
        />
      </Field>
    </div>
    <Field label="Only GPUs of the model" help="A part of its name. Empty: all GPUs." path="gpuModel" refusal={refusal}>
      <input
        value={draft.gpuModel}
        readOnly={isFixed}
        spellCheck={false}
        onChange={({ target }) => set({ gpuModel: target.value })}
      />
    </Field>
  </>
)

/** "ann is at 9 of 8"; null: not above. */
const describeExcess = (name: string, used: number | undefined, text: string) =>
  used !== undefined && text !== '' && used > Number(text)
    ? `${name} is at ${used} of ${text}: running jobs continue, further ones wait.`
    : null

const NumberFields = ({ draft, limit, refusal, set }: FieldsProps & { limit: ScopeLimit | undefined }) => (
  <div className={styles.pair}>
    <Field
      label="Running jobs"
      path="maxJobs"
      refusal={refusal}
      help={describeExcess(draft.name, limit?.jobsInUse, draft.jobs)}
    >
      <input
        type="number"
        min={0}
        placeholder="unlimited"
        value={draft.jobs}
        onChange={({ target }) => set({ jobs: target.value })}
      />
    </Field>
    <Field
      label="GPUs in use"
      path="maxGpus"
      refusal={refusal}
      help={describeExcess(draft.name, limit?.gpusInUse, draft.gpus)}
    >
      <input
        type="number"
        min={0}
        placeholder="unlimited"
        value={draft.gpus}
        onChange={({ target }) => set({ gpus: target.value })}
      />
    </Field>
  </div>
)

function confirmRemove({ pool, version }: PoolLimitsNow, limit: ScopeLimit, onDone: () => void): void {
  const { gpuModel, jobsInUse } = limit
  const { scope, name } = toDraft(limit)
  const model = gpuModel ? ` --gpu-model ${quoteShell(gpuModel)}` : ''
  openLayer({
    kind: 'CONFIRM',
    confirmation: {
      title: `Remove the limit of ${scope.toLowerCase()} ${name}?`,
      effect: `${plural(jobsInUse, 'job')} of ${name} run${jobsInUse === 1 ? 's' : ''} now; more may start at once. The limits of the pool still apply.`,
      jobs: [],
      command: `berth limits scope ${scope.toLowerCase()} ${quoteShell(name)}${model} --pool ${quoteShell(pool.name)} --remove`,
      confirmText: 'Remove limit',
      keepText: 'Keep',
      hasReason: false,
      run: async () => {
        const target = { pool: pool.name, scope: toScopeInput(scope, name), ...(gpuModel && { gpuModel }) }
        const input = { ...target, expectedVersion: version, maxJobs: null, maxGpus: null }
        const { setScopeLimit } = await client.request(ChangeScopeLimitDocument, { input }, { attempts: 4 })
        if (isRefused(setScopeLimit)) return setScopeLimit.message
        showToast(`Removed the limit of ${name}`)
        onDone()
        return null
      },
    },
  })
}
