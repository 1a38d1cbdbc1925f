import { Forbidden, InvalidInput, NotFound } from '../../domain/errors.ts'
import { addNode, devicesPerNode, removeNode, updateNode } from '../../domain/machines/node-changes.ts'
import { Unavailable } from '../../platform/tx.ts'
import { capList } from '../admission/argument-bounds.ts'
import { builder } from './builder.ts'
import { DeleteResult } from './delete-result.ts'
import { PoolNodeState } from './pool.ts'
import { requireRow } from './problem.ts'
import { PoolNodeRef } from './refs.ts'

const declareSuccess = (name: 'AddNodeSuccess' | 'UpdateNodeSuccess', description: string) =>
  builder.objectRef<{ id: string }>(name).implement({
    description,
    fields: (t) => ({
      node: t.field({
        type: PoolNodeRef,
        description: 'The node.',
        resolve: ({ id }, _args, { load }) => requireRow(load.node.load(id)),
      }),
    }),
  })

const AddNodeSuccess = declareSuccess('AddNodeSuccess', 'The node was added and accepts runs.')
const UpdateNodeSuccess = declareSuccess('UpdateNodeSuccess', 'The state of the node was changed.')

const declareResult = (
  name: 'AddNodeResult' | 'UpdateNodeResult',
  success: typeof AddNodeSuccess,
  description: string,
) =>
  builder.errorUnion(name, {
    description,
    types: [success, InvalidInput, NotFound, Forbidden, Unavailable],
    resolveType: () => success,
  })

const AddNodeResult = declareResult('AddNodeResult', AddNodeSuccess, 'Result of `addNode`.')
const UpdateNodeResult = declareResult('UpdateNodeResult', UpdateNodeSuccess, 'Result of `updateNode`.')

const DeviceInput = builder.inputType('DeviceInput', {
  description: 'GPUs of one kind.',
  fields: (t) => ({
    model: t.string({ required: true, description: 'GPU model.' }),
    memoryGib: t.float({ required: true, description: 'GiB of memory per GPU.' }),
    tensorCores: t.boolean({ defaultValue: false, description: 'Whether they have tensor cores.' }),
    cuda: t.stringList(capList(2, 'Lowest and highest CUDA version (default: every version)')),
    count: t.int({ defaultValue: 1, description: 'Number of GPUs; they get consecutive indexes.' }),
  }),
})

const AddNodeInput = builder.inputType('AddNodeInput', {
  description: 'A machine to add to a pool.',
  fields: (t) => ({
    pool: t.string({
      required: true,
      description: 'Name of the pool. Pools that are bound to one machine cannot get nodes.',
    }),
    name: t.string({ required: true, description: 'Name, unique in the pool.' }),
    cpu: t.float({ required: true, description: 'Number of cores.' }),
    memoryGib: t.int({ required: true, description: 'GiB of memory.' }),
    cpuModel: t.string({ description: 'Processor model, matched by `cpuModel` filters.' }),
    infiniband: t.boolean({ defaultValue: false, description: 'Whether it has InfiniBand.' }),
    gpus: t.field({ type: [DeviceInput], ...capList(devicesPerNode, 'Its GPUs') }),
  }),
})

const UpdateNodeInput = builder.inputType('UpdateNodeInput', {
  description: 'A change of the state of a node.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The node.' }),
    state: t.field({
      type: PoolNodeState,
      required: true,
      description: 'The new state: READY, CORDONED or DRAINING. LOST cannot be set.',
    }),
  }),
})

const RemoveNodeInput = builder.inputType('RemoveNodeInput', {
  description: 'The node to remove.',
  fields: (t) => ({ id: t.id({ required: true, description: 'The node.' }) }),
})

builder.mutationFields((t) => ({
  addNode: t.field({
    type: AddNodeResult,
    description: 'Adds a node to a pool.',
    args: { input: t.arg({ type: AddNodeInput, required: true, description: 'The node.' }) },
    resolve: (_root, { input }, { domain, viewer }) => addNode(domain, viewer, input),
  }),
  updateNode: t.field({
    type: UpdateNodeResult,
    description: 'Cordons or drains a node, or makes it ready again. Running jobs continue.',
    args: { input: t.arg({ type: UpdateNodeInput, required: true, description: 'The node and its new state.' }) },
    resolve: (_root, { input }, { domain, viewer }) => updateNode(domain, viewer, input),
  }),
  removeNode: t.field({
    type: DeleteResult,
    description: 'Removes a node from its pool. Refused while runs use the node or it is held for a job.',
    args: { input: t.arg({ type: RemoveNodeInput, required: true, description: 'The node.' }) },
    resolve: (_root, { input }, { domain, viewer }) => removeNode(domain, viewer, input),
  }),
}))
