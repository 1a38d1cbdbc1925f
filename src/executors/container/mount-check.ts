import { randomUUID } from 'node:crypto'
import type { Mount } from '../backend/data-mounts.ts'
import { StartFailed } from '../executor.ts'
import { readFile } from './archive.ts'
import type { Engine } from './engine.ts'
import { labels } from './labels.ts'
import type { Inspected } from './observation.ts'

/**
 * The first program of a container with checked mounts (mount-check.c). The engine resolves the path of a mount again
 * at the start, when another job may have replaced the directory by a link to /. So this program, under the account of
 * the job, compares each mounted directory with the one that the server opened (../backend/data-mounts.ts), and becomes
 * the command only if they are the same. It writes a refusal to a file that the server puts beside it. The names of both
 * are random, so that an image can neither replace them nor lead the refusal through a link into a mounted folder.
 */
export interface MountCheck {
  path: string
  refusalPath: string
  argv(command: readonly string[], workdir: string | null): readonly string[]
}

/** null: no mount needs a check. */
export function createMountCheck(mounts: readonly Mount[]): MountCheck | null {
  const pairs = mounts.flatMap(({ target, identity }) => (identity === null ? [] : [target, identity]))
  if (pairs.length === 0) return null
  const path = `/.berth-mount-check-${randomUUID()}`
  const refusalPath = `${path}-refusal`
  return {
    path,
    refusalPath,
    argv: (command, workdir) => [path, refusalPath, workdir ?? '.', ...pairs, '--', ...command],
  }
}

const refused = 125

export async function readRefusal(engine: Engine, found: Inspected): Promise<StartFailed | null> {
  if (found.State.ExitCode !== refused) return null
  const path = found.Config.Labels?.[labels.refusal]
  if (path === undefined) return null
  const refusal = await readFile(engine, { container: found.Id, path })
  if (refusal === 'mount\n')
    return new StartFailed(
      'START_FAILED',
      'data: a folder was replaced during the start, or a target is a symbolic link in the image',
    )
  return refusal === 'workdir\n' ? new StartFailed('WORKDIR_NOT_FOUND', 'The container cannot enter its workdir') : null
}

/** The program for the architecture that the engine's `/version` reports. Throws StartFailed. */
export function mountCheckProgram(architecture: string): Buffer {
  const program = programs[architecture]
  if (program !== undefined) return Buffer.from(program, 'base64')
  throw new StartFailed(
    'BAD_SPEC',
    `data: Berth cannot check the mounts of an engine on ${architecture}; it can on amd64 and arm64`,
  )
}

/**
 * Built from mount-check.c by GCC 12: gcc -Os -std=c11 -ffreestanding -fno-builtin -fno-stack-protector
 * -fno-asynchronous-unwind-tables -fno-ident -fno-pic -fno-tree-loop-distribute-patterns -nostdlib -static -no-pie -s
 * -Wl,-z,noseparate-code,-z,max-page-size=65536,--build-id=none
 */
const programs: Readonly<Record<string, string>> = {
  amd64:
    'f0VMRgIBAQAAAAAAAAAAAAIAPgABAAAAsABAAAAAAABAAAAAAAAAAEgEAAAAAAAAAAAAAEAAOAACAEAABAADAAEAAAAFAAAAAAAAAAAAAAAAAEAAAAAAAAAAQAAAAAAAKQQAAAAAAAApBAAAAAAAAAAAAQAAAAAAUeV0ZAYAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAx7UiJ50iD5PDooAEAAEmJ+UiLP0iJ8kiJ+IoIhMl0LoD5L3UkRTHSuDsAAABMic4PBUiD+P4PlMJIg/jsD5TACcIPtsKDwH7DSP/A68xBVUiJ0UG42gNAAEFUVVNIgeyIDwAASIsBSIXAdCeAOFB1HIB4AUF1FoB4AlR1EIB4A0h1CoB4BD11BEyNQAVIg8EI69Ex24A8HwB0BUj/w+v1SMfF/v///0yNYwJIjXwkiEG9OwAAAEmLMYA+AHR8McBBigiEyXQZgPk6dBRIPf8PAAB3B4hMBIhI/8BJ/8Dr4EmNDARIgfkAEAAAdztIhcB0CMZEBIgvSP/AMclIAfhEihQORIgUCEj/wUg5y3PwRTHSTInoTInODwVIg/j+dAhIg/jsSA9F6EGAOABJjUABdAhJicDpfP///zHASIP9/g+UwEiBxIgPAABbg8B+XUFcQV3DSYn5SYnwuAEBAAC6QQQAAEG6tgEAAEjHx5z///9Mic4PBTHSSInHQYA8EAB0BUj/wuv0RTHSuAEAAABMicYPBUG45wAAAL99AAAAMdJFMdJMicBIidYPBevxQVdJiflMjUcgQb8DAAAAQVZBVUFUVVNIgeyYAAAASItHEEyLN0iJBCRJixiAOy8PhfsAAABJi2gIRTHSuAEBAABIx8ec////vhcEQAC6AAApAA8FSInHgDsAdF9JidxFiiwkRYTtdAtBgP0vdAVJ/8Tr7EHGBCQAgDsAdDFFMdK4AQEAAEiJ3roAACsADwUx0kiJw0yJ+EiJ1g8FSIXbeQq+GQRAAOmiAAAASInfQYD9AUyJ40iD2//rnEUx0rgFAAAASI10JAgx0g8FSInGSIXAdc1MifhIifIPBYpFAEj/xYPoMDwJdw1Ia9IKSA++wEgBwuvmSDlUJAh1pEiLTCQQMdKKRQCD6DA8CXcQSGvSCkgPvsBI/8VIAcLr5kg50Q+Fev///0mDwBDp+f7//zHSSYt5GEUx0rhQAAAASInWDwVIhcB0Dr4gBEAASIs8JOhQ/v//SY14CEuNdPEQ6Pz8//9BuOcAAABIY/gx0kUx0kyJwEiJ1g8F6/EvdXNyL2xvY2FsL3NiaW46L3Vzci9sb2NhbC9iaW46L3Vzci9zYmluOi91c3IvYmluOi9zYmluOi9iaW4ALwBtb3VudAoAd29ya2RpcgoAAC5zaHN0cnRhYgAudGV4dAAucm9kYXRhAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAALAAAAAQAAAAYAAAAAAAAAsABAAAAAAACwAAAAAAAAACoDAAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAEQAAAAEAAAAyAAAAAAAAANoDQAAAAAAA2gMAAAAAAABPAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAABAAAAAAAAAAEAAAADAAAAAAAAAAAAAAAAAAAAAAAAACkEAAAAAAAAGQAAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAA=',
  arm64:
    'f0VMRgIBAQAAAAAAAAAAAAIAtwABAAAAsABAAAAAAABAAAAAAAAAAGgFAAAAAAAAAAAAAEAAOAACAEAABQAEAAEAAAAFAAAAAAAAAAAAAAAAAEAAAAAAAAAAQAAAAAAAQAUAAAAAAABABQAAAAAAAAAAAQAAAAAAUeV0ZAYAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAdAIDS4AMAkYAAAJTpAwCq4gMBqgAAQPnhAwCqIwBAOSMCADUEAACQ4QMCqoTgEZEjAED5IwMAtQUAgNIBaGU4AQUANSEBQPmqCACRJwCAkusFgFIgAEA5gAkANf8IALEJAAAUf7wAcUEBAFSoG4DS4QMJqgMAgNIBAADUHwgAsQQYVLrgF58aAPgBEcADX9YhBACR4v//F2UAQDm/QAFxwQEAVGUEQDm/BAFxYQEAVGUIQDm/UAFxAQEAVGUMQDm/IAFxoQAAVGUQQDm/9ABxQQAAVGQUAJEhIACR1f//F6UEAJHW//8Xf/w/8WgAAFTgayM4YwQAkYQEAJGAAEA5H+gAcQQYQHoB//9UQAEDix8EQPFoAgBUYwAAtOtrIzhjBACR42MjiwYAgNIgaGY4YGgmOMYEAJHfAAXrif//VKgbgNLgAwCR4QMJqgMAgNIBAADUHwgAsQQYVLrnAICagBRAOIAAADQhAUD5IABAOeAAADX/CACx4BefGv8HQJEA+AERwANf1v8HQNEDAIDS2///FwR8QJPgAwSqyAuA0gEAgNICAIDSAwCA0gEAANT6//8X/Xu/qeIDAKrkAwGq/QMAkeEDAqoIB4DSYAyAkiKIgNLDNoDSAQAA1AIAgNKBaGI44QAANeEDBKoICIDSAwCA0gEAANSgD4BS5v//l0IEAJH3//8X/Xu3qQwAAJAPAIjS/QMAkQsAQPkQAJjSDghA+eQDAKoJgACRjNUSkQ8FoPIQBaDyUQGA0icBQPngAEA5H7wAcWABAFSADED5KAaA0gEAgNICAIDSAwCA0gEAANSACgC0AQAAkCH4EpFBAAAUKgVA+QgHgNJgDICS4QMMquIDD6oDAIDSAQAA1OUDAKrgAEA5IAcANeADBarhQwCRCAqA0gIAgNIDAIDSAQAA1MAFALUoB4DS4AMFqgEAgNIBAADUQBVAOADAAFECHAASXyQAcQkGAFTgC0D5HwAB60EEAFTiD0D5AQCA0kUBgNJAAUA5AMAAUQMcABJ/JABxCQUAVF8AAesBAwBUKUEAkcr//xfGBACRzQBAOb+9AHGkGUB6gf//VN8AADngAEA5oAIANOADBarhAweq4gMQqggHgNIDAIDSAQAA1CgHgNLnAwCqAQCA0uADBaoCAIDSAQAA1OcA+LYBAACQIdwSkeADDqqP//+X5gMHquf//xflAweqTQAANMYEAJHnAwaqwP//FwB8QJMhABGbyv//FwB8QJNKBQCRIQAFm9H//xdhCQCRICEAkYEMAYsT//+XdP//ly91c3IvbG9jYWwvc2JpbjovdXNyL2xvY2FsL2JpbjovdXNyL3NiaW46L3Vzci9iaW46L3NiaW46L2JpbgAvAG1vdW50CgB3b3JrZGlyCgAAEAAAAAAAAAABelIABHgeARsMHwAYAAAAGAAAANj7//+IAQAAAHcOgCBmDgBDDoAgEAAAADQAAABE/f//IAAAAAAAAAAUAAAASAAAAFD9//9UAAAAAEEOEJ0CngEYAAAAYAAAAIz9///AAQAAAEEOkAGdEp4RAAAAAC5zaHN0cnRhYgAudGV4dAAucm9kYXRhAC5laF9mcmFtZQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAALAAAAAQAAAAYAAAAAAAAAsABAAAAAAACwAAAAAAAAAMgDAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAEQAAAAEAAAAyAAAAAAAAAHgEQAAAAAAAeAQAAAAAAABPAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAABAAAAAAAAABkAAAABAAAAAgAAAAAAAADIBEAAAAAAAMgEAAAAAAAAeAAAAAAAAAAAAAAAAAAAAAgAAAAAAAAAAAAAAAAAAAABAAAAAwAAAAAAAAAAAAAAAAAAAAAAAABABQAAAAAAACMAAAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAA',
}
