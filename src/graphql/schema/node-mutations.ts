import { Forbidden, InvalidInput, NotFound } from '../../domain/errors.ts'
import { addNode, devicesPerNode, removeNode, updateNode } from '../../domain/machines/node-changes.ts'
import { Unavailable } from '../../platform/tx.ts'
import { atMost } from '../bounds.ts'
import { builder } from '../builder.ts'
import { PoolNodeRef } from '../refs.ts'
import { DeleteResult } from './delete-result.ts'
import { PoolNodeState } from './pool.ts'
import { seen } from './problem.ts'

const successType = (name: 'AddNodeSuccess' | 'UpdateNodeSuccess', description: string) =>
  builder.objectRef<{ id: string }>(name).implement({
    description,
    fields: (t) => ({
      node: t.field({
        type: PoolNodeRef,
        description: 'The node.',
        resolve: ({ id }, _args, { load }) => seen(load.node.load(id)),
      }),
    }),
  })

const AddNodeSuccess = successType('AddNodeSuccess', 'The node takes runs.')
const UpdateNodeSuccess = successType('UpdateNodeSuccess', 'The node is in this state.')

const resultOf = (name: 'AddNodeResult' | 'UpdateNodeResult', success: typeof AddNodeSuccess, description: string) =>
  builder.errorUnion(name, {
    description,
    types: [success, InvalidInput, NotFound, Forbidden, Unavailable],
    resolveType: () => success,
  })

const AddNodeResult = resultOf('AddNodeResult', AddNodeSuccess, 'What became of a new node.')
const UpdateNodeResult = resultOf('UpdateNodeResult', UpdateNodeSuccess, 'What became of a change of a node.')

const DeviceInput = builder.inputType('DeviceInput', {
  description: 'GPUs of one kind.',
  fields: (t) => ({
    model: t.string({ required: true, description: 'Model.' }),
    memoryGib: t.float({ required: true, description: 'GiB of memory of each.' }),
    tensorCores: t.boolean({ defaultValue: false, description: 'Whether they have tensor cores.' }),
    cuda: t.stringList(atMost(2, 'Lowest and highest CUDA version (default: every version)')),
    count: t.int({ defaultValue: 1, description: 'How many; their indexes follow on each other.' }),
  }),
})

const AddNodeInput = builder.inputType('AddNodeInput', {
  description: 'A machine that a pool gets.',
  fields: (t) => ({
    pool: t.string({ required: true, description: 'The pool; not one that is bound to one machine.' }),
    name: t.string({ required: true, description: 'Name, unique in its pool.' }),
    cpu: t.float({ required: true, description: 'Cores.' }),
    memoryGib: t.int({ required: true, description: 'GiB of memory.' }),
    cpuModel: t.string({ description: 'Processor, for filters.' }),
    infiniband: t.boolean({ defaultValue: false, description: 'Whether it has InfiniBand.' }),
    gpus: t.field({ type: [DeviceInput], ...atMost(devicesPerNode, 'Its GPUs') }),
  }),
})

const UpdateNodeInput = builder.inputType('UpdateNodeInput', {
  description: 'A change of a machine.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The node.' }),
    state: t.field({
      type: PoolNodeState,
      required: true,
      description: 'READY takes runs; CORDONED takes no more; DRAINING neither, for it is to go. LOST cannot be set.',
    }),
  }),
})

const RemoveNodeInput = builder.inputType('RemoveNodeInput', {
  description: 'Which machine is to go.',
  fields: (t) => ({ id: t.id({ required: true, description: 'The node.' }) }),
})

builder.mutationFields((t) => ({
  addNode: t.field({
    type: AddNodeResult,
    description: 'Gives a pool another machine.',
    args: { input: t.arg({ type: AddNodeInput, required: true, description: 'The machine.' }) },
    resolve: (_root, { input }, { domain, viewer }) => addNode(domain, viewer, input),
  }),
  updateNode: t.field({
    type: UpdateNodeResult,
    description: 'Cordons or drains a machine, or makes it ready again. What runs on it goes on.',
    args: { input: t.arg({ type: UpdateNodeInput, required: true, description: 'The machine and its state.' }) },
    resolve: (_root, { input }, { domain, viewer }) => updateNode(domain, viewer, input),
  }),
  removeNode: t.field({
    type: DeleteResult,
    description: 'Takes a machine from its pool. Refused while runs hold it, or while it is kept for a job.',
    args: { input: t.arg({ type: RemoveNodeInput, required: true, description: 'The machine.' }) },
    resolve: (_root, { input }, { domain, viewer }) => removeNode(domain, viewer, input),
  }),
}))
