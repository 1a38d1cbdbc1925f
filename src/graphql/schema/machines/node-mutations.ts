import { NotFound, VersionConflict } from '../../../domain/errors.ts'
import {
  type AddedNode,
  addNode,
  deleteNode,
  devicesPerNode,
  updateNode,
} from '../../../domain/machines/node-changes.ts'
import { capList } from '../../admission/argument-bounds.ts'
import { builder } from '../frame/builder.ts'
import { expectedVersion, objectField } from '../frame/fields.ts'
import { declareDeleteMutation, declareMutation } from '../frame/mutation.ts'
import type { SuccessFields } from '../frame/mutation-result.ts'
import { PoolNodeState } from './pool-node.ts'

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

declareMutation('addNode', {
  description: 'Adds a node to a pool.',
  input: {
    argumentDescription: 'The node.',
    description: 'A machine to add to a pool.',
    fields: (t) => ({
      pool: t.string({
        required: true,
        description: 'Name of the pool. Pools that are bound to one machine cannot get nodes.',
      }),
      name: t.string({ required: true, description: 'Name, unique in the pool.' }),
      engine: t.string({
        description:
          'Address of the container engine of the machine: ssh://user@host:port/path/of/socket. The server asks it first, and refuses the node with the remedy if it does not answer. Required in a pool whose nodes have engines; refused in others.',
      }),
      cpu: t.float({ description: 'Number of cores; default: what the engine says. Required without `engine`.' }),
      memoryBytes: t.field({
        type: 'UInt53',
        description: 'Total memory of the machine, in bytes; default: what the engine says. Required without `engine`.',
      }),
      cpuModel: t.string({ description: 'Processor model, matched by `cpuModel` filters.' }),
      infiniband: t.boolean({ defaultValue: false, description: 'Whether it has InfiniBand.' }),
      gpus: t.field({
        type: [GpuInput],
        ...capList(devicesPerNode, 'GPUs of the machine; default: those that the engine gives to containers'),
      }),
    }),
  },
  success: {
    description: 'The node was added and accepts runs.',
    fields: (t: SuccessFields<AddedNode>) => ({
      node: objectField(t, 'id', 'The node as stored.', 'node'),
      troubles: t.exposeStringList('troubles', {
        description: 'Repairs that the machine needs, as sentences; empty without `engine`.',
      }),
    }),
  },
  problems: [NotFound],
  resolve: (input, { domain, viewer }) => addNode(domain, viewer, input),
})

declareMutation('updateNode', {
  description: 'Cordons or drains a node, or makes it ready again. Running jobs continue.',
  input: {
    argumentDescription: 'The node and its new state.',
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
      expectedVersion: t.field(expectedVersion('node')),
    }),
  },
  success: {
    description: 'The state of the node was changed.',
    fields: (t) => ({ node: objectField(t, 'id', 'The node as stored.', 'node') }),
  },
  problems: [NotFound, VersionConflict],
  resolve: ({ nodeId: id, ...change }, { domain, viewer }) => updateNode(domain, viewer, { id, ...change }),
})

declareDeleteMutation('deleteNode', {
  noun: 'node',
  description: 'Deletes a node of a pool. Refused while runs use the node or it is held for a job.',
  idField: 'nodeId',
  remove: deleteNode,
})
