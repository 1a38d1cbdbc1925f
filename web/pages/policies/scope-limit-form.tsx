import { toScopeInput } from '@berth-jobs/berth/client'
import { ChangeScopeLimitDocument, type ScopeKind } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { Button, Buttons } from '../../parts/button.tsx'
import { confirmChange } from '../../parts/confirm-change.ts'
import { useObjectDraft } from '../../parts/draft.ts'
import { Form, Pair, type Refusal, SelectField, TextField } from '../../parts/form.tsx'
import { plural, quoteShell } from '../../parts/format.ts'
import { isRefused, toRefusal } from '../../parts/refusal.ts'
import { showToast } from '../../parts/toasts.tsx'
import { type PoolLimitsNow, readLimits } from './use-limits.ts'

type ScopeLimit = PoolLimitsNow['scopes'][number]
type LimitScope = Exclude<ScopeKind, 'GLOBAL' | 'LEVEL' | 'ACCOUNT' | 'POOL'>
const scopes: readonly LimitScope[] = ['QUEUE', 'PROJECT', 'TEAM', 'USER']

const toText = (limit: number | null | undefined) => (limit === null || limit === undefined ? '' : String(limit))

interface ScopeLimitFormProps {
  limits: PoolLimitsNow
  /** The limit to change; undefined: creates a limit. */
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

/** The form for a limit of a queue, project, team or user. */
export function ScopeLimitForm({ limits, limit, onCancel, onDone }: ScopeLimitFormProps) {
  const { base, draft, set, merge } = useObjectDraft({
    stored: limits,
    toDraft: ({ scopes: all }) => toDraft(all.find((each) => limit && isSameTarget(each, limit))),
  })
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
    if (setScopeLimit.__typename === 'VersionConflictProblem')
      return merge(base.pool.id, (await readLimits(base.pool.name)) ?? base, toValues)
    if (isRefused(setScopeLimit)) return toRefusal(setScopeLimit)
    showToast(`Saved the limit of ${name}`)
    onDone()
    return null
  }
  return (
    <Form takesFocus submitText="Save" onCancel={onCancel} onSubmit={save}>
      <TargetFields draft={draft} isFixed={limit !== undefined} set={set} />
      <NumberFields draft={draft} limit={limit} set={set} />
      {limit && (
        <Buttons>
          <Button onClick={() => confirmRemove(base, limit, onDone)}>Remove…</Button>
        </Buttons>
      )}
    </Form>
  )
}

interface FieldsProps {
  draft: Draft
  set: (change: Partial<Draft>) => void
}

const TargetFields = ({ draft, isFixed, set }: FieldsProps & { isFixed: boolean }) => (
  <>
    <Pair>
      <SelectField
        label="Limit of a"
        path="scope"
        value={draft.scope}
        options={scopes.map((each) => [each, each.toLowerCase()])}
        isDisabled={isFixed}
        onChange={(scope) => set({ scope })}
      />
      <TextField
        label="Name"
        path="scope"
        value={draft.name}
        required
        readOnly={isFixed}
        spellCheck={false}
        onChange={(name) => set({ name })}
      />
    </Pair>
    <TextField
      label="Only GPUs of the model"
      help="A part of its name. Empty: all GPUs."
      path="gpuModel"
      value={draft.gpuModel}
      readOnly={isFixed}
      spellCheck={false}
      onChange={(gpuModel) => set({ gpuModel })}
    />
  </>
)

/** "ann is at 9 of 8"; null: the use is not above the limit. */
const describeExcess = (name: string, used: number | undefined, text: string) =>
  used !== undefined && text !== '' && used > Number(text)
    ? `${name} is at ${used} of ${text}: running jobs continue, further ones wait.`
    : null

const NumberFields = ({ draft, limit, set }: FieldsProps & { limit: ScopeLimit | undefined }) => (
  <Pair>
    <TextField
      label="Running jobs"
      path="maxJobs"
      help={describeExcess(draft.name, limit?.jobsInUse, draft.jobs)}
      type="number"
      min={0}
      placeholder="unlimited"
      value={draft.jobs}
      onChange={(jobs) => set({ jobs })}
    />
    <TextField
      label="GPUs in use"
      path="maxGpus"
      help={describeExcess(draft.name, limit?.gpusInUse, draft.gpus)}
      type="number"
      min={0}
      placeholder="unlimited"
      value={draft.gpus}
      onChange={(gpus) => set({ gpus })}
    />
  </Pair>
)

function confirmRemove({ pool, version }: PoolLimitsNow, limit: ScopeLimit, onDone: () => void): void {
  const { gpuModel, jobsInUse } = limit
  const { scope, name } = toDraft(limit)
  const model = gpuModel ? ` --gpu-model ${quoteShell(gpuModel)}` : ''
  confirmChange({
    title: `Remove the limit of ${scope.toLowerCase()} ${name}?`,
    effect: `${plural(jobsInUse, 'job')} of ${name} run${jobsInUse === 1 ? 's' : ''} now; more may start at once. The limits of the pool still apply.`,
    command: `berth limits scope ${scope.toLowerCase()} ${quoteShell(name)}${model} --pool ${quoteShell(pool.name)} --remove`,
    confirmText: 'Remove limit',
    change: async () => {
      const target = { pool: pool.name, scope: toScopeInput(scope, name), ...(gpuModel && { gpuModel }) }
      const input = { ...target, expectedVersion: version, maxJobs: null, maxGpus: null }
      return (await client.request(ChangeScopeLimitDocument, { input }, { attempts: 4 })).setScopeLimit
    },
    toast: `Removed the limit of ${name}`,
    onDone,
  })
}
