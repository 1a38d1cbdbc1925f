-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- AlterTable
ALTER TABLE "node" ADD COLUMN     "delegated" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "held_cpu_millis" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "held_gpus" INTEGER[] DEFAULT ARRAY[]::INTEGER[],
ADD COLUMN     "held_memory_bytes" BIGINT NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "allocation" ADD COLUMN     "gpu_ids" INTEGER[] DEFAULT ARRAY[]::INTEGER[],
ADD COLUMN     "gpu_slots" INTEGER[] DEFAULT ARRAY[]::INTEGER[],
ADD COLUMN     "provisional" BOOLEAN NOT NULL DEFAULT false;

-- End of the generated part.

-- Where the backend chooses nodes, an allocation follows its choice, and what counted there before may not fit beside it.
ALTER TABLE node
  DROP CONSTRAINT node_cpu_not_overbooked,
  DROP CONSTRAINT node_memory_not_overbooked,
  ADD CONSTRAINT node_cpu_not_overbooked CHECK (free_cpu_millis <= cpu_millis AND (delegated OR free_cpu_millis >= 0)),
  ADD CONSTRAINT node_memory_not_overbooked CHECK (free_memory_bytes <= memory_bytes AND (delegated OR free_memory_bytes >= 0)),
  ADD CONSTRAINT node_held_by_others CHECK (held_cpu_millis >= 0 AND held_memory_bytes >= 0
    AND (delegated OR held_cpu_millis = 0 AND held_memory_bytes = 0 AND held_gpus = '{}'));

-- A backend may not tell the memory of its GPUs.
ALTER TABLE device
  DROP CONSTRAINT device_memory_positive,
  ADD CONSTRAINT device_memory_not_negative CHECK (memory_gib >= 0);

-- Devices that count as held by a run: claimed ones, and those that an allocation on a delegated node counts.
CREATE VIEW held_device AS
  SELECT node_id, device, run_id FROM device_claim
  UNION ALL
  SELECT node_id, unnest(gpu_slots), run_id FROM allocation WHERE gpu_slots <> '{}';
