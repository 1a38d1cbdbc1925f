import { NotFound, VersionConflict } from '../../../domain/errors.ts'
import { addNode, deleteNode, devicesPerNode, updateNode } from '../../../domain/machines/node-changes.ts'
import { capList } from '../../admission/argument-bounds.ts'
import { builder } from '../frame/builder.ts'
import { declareDeletion, declareResult } from '../frame/mutation-result.ts'
import { requireRow } from '../frame/problem.ts'
import { PoolNodeRef } from '../frame/refs.ts'
import { PoolNodeState } from './pool-node.ts'

const declareNodeResult = (mutation: 'AddNode' | 'UpdateNode', description: string) =>
  declareResult(
    mutation,
    builder.objectRef<{ id: string }>(`${mutation}Success`).implement({
      description,
      fields: (t) => ({
        node: t.field({
          type: PoolNodeRef,
          description: 'The node as stored.',
          resolve: ({ id }, _args, { load }) => requireRow(load.node.load(id)),
        }),
      }),
    }),
    mutation === 'AddNode' ? [NotFound] : [NotFound, VersionConflict],
  )

const GpuInput = builder.inputType('GpuInput', {
  description: 'GPUs of one kind.',
  fields: (t) => ({
    model: t.string({ required: true, description: 'GPU model.' }),
    memoryBytes: t.field({ type: 'UInt53', required: true, description: 'Bytes of memory of each GPU.' }),
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
    memoryBytes: t.field({ type: 'UInt53', required: true, description: 'Total memory of the machine, in bytes.' }),
    cpuModel: t.string({ description: 'Processor model, matched by `cpuModel` filters.' }),
    infiniband: t.boolean({ defaultValue: false, description: 'Whether it has InfiniBand.' }),
    gpus: t.field({ type: [GpuInput], ...capList(devicesPerNode, 'Its GPUs') }),
  }),
})

const UpdateNodeInput = builder.inputType('UpdateNodeInput', {
  description: 'A change of the state of a node.',
  fields: (t) => ({
    nodeId: t.id({ required: true, description: 'The node to change.' }),
    state: t.field({
      type: PoolNodeState,
      required: true,
      description: 'The new state: READY, CORDONED or DRAINING. LOST cannot be set.',
    }),
    reason: t.string({
      description:
        'Why the node accepts no runs, for other users; at most 500 characters; only with CORDONED or DRAINING.',
    }),
    expectedVersion: t.field({
      type: 'UInt53',
      description: 'Fails with a version conflict unless the node has this version.',
    }),
  }),
})

const DeleteNodeInput = builder.inputType('DeleteNodeInput', {
  description: 'The node to delete.',
  fields: (t) => ({
    nodeId: t.id({ required: true, description: 'The node to delete.' }),
    expectedVersion: t.field({
      type: 'UInt53',
      description: 'Fails with a version conflict unless the node has this version.',
    }),
  }),
})

builder.mutationFields((t) => ({
  addNode: t.field({
    type: declareNodeResult('AddNode', 'The node was added and accepts runs.'),
    description: 'Adds a node to a pool.',
    args: { input: t.arg({ type: AddNodeInput, required: true, description: 'The node.' }) },
    resolve: (_root, { input }, { domain, viewer }) => addNode(domain, viewer, input),
  }),
  updateNode: t.field({
    type: declareNodeResult('UpdateNode', 'The state of the node was changed.'),
    description: 'Cordons or drains a node, or makes it ready again. Running jobs continue.',
    args: { input: t.arg({ type: UpdateNodeInput, required: true, description: 'The node and its new state.' }) },
    resolve: (_root, { input: { nodeId: id, ...change } }, { domain, viewer }) =>
      updateNode(domain, viewer, { id, ...change }),
  }),
  deleteNode: t.field({
    type: declareDeletion('DeleteNode', { description: 'The node was deleted.' }),
    description: 'Deletes a node of a pool. Refused while runs use the node or it is held for a job.',
    args: { input: t.arg({ type: DeleteNodeInput, required: true, description: 'The node.' }) },
    resolve: (_root, { input: { nodeId: id, ...more } }, { domain, viewer }) =>
      deleteNode(domain, viewer, { id, ...more }),
  }),
}))
