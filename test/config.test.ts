import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ConfigError, loadConfig } from '../src/config.ts'
import { executorNames } from '../src/domain/executors.ts'

const load = (yaml: string, env: Record<string, string> = {}) =>
  loadConfig({ argv: ['--config', 'berth.yaml'], env, readFile: () => yaml })

/** The lines of a refused configuration, one per problem. */
function refusal(yaml: string, env: Record<string, string> = {}): string[] {
  try {
    load(yaml, env)
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n')
    throw error
  }
  throw new Error('the configuration was accepted')
}

describe('the default configuration', () => {
  const config = loadConfig({ argv: [], env: {}, readFile: () => '' })

  it('serves one local pool on loopback from an embedded database', () => {
    expect(config.server).toMatchObject({ host: '127.0.0.1', port: 4000, roles: ['api', 'scheduler'], publicUrl: null })
    expect(config.database).toEqual({ url: null, notify: true, connections: 24 })
    expect(config.dataDir).toBe(resolve('.berth'))
    expect(config.pools).toMatchObject([
      { name: 'local', policy: 'PRIORITY', executors: ['local', 'handler', 'container'] },
    ])
    expect(config.pools[0].nodes).toBeUndefined()
    expect(config.queues).toEqual([{ name: 'default', pool: 'local', native: {} }])
    const [month, years] = [2_592_000_000, 63_072_000_000]
    expect(config.retention).toEqual({ jobsMs: null, logsMs: month, eventsMs: month, usageMs: years })
    expect(config.logBytesPerRunMax).toBe(17_179_869_184)
  })

  it('is deeply frozen', () => {
    expect(Object.isFrozen(config)).toBe(true)
    expect(Object.isFrozen(config.pools[0].scheduling)).toBe(true)
  })

  it('assigns the default queue to the first pool', () => {
    expect(load('pools: [{ name: box }, { name: other }]').queues).toEqual([
      { name: 'default', pool: 'box', native: {} },
    ])
  })

  it('is used for an empty file', () => {
    expect(load('').server.port).toBe(4000)
  })
})

describe('a full configuration file', () => {
  it('is converted to the units of the code', () => {
    const [pool] = load(`
pools:
  - name: box
    executor: simulated
    environment: [CUDA_HOME]
    nodes:
      - { name: n1, cpu: 1.5, memoryGib: 2, cpuModel: "Intel Xeon", gpus: [{ model: V100, memoryGib: 32, cuda: ["9.0", "11.8"], count: 2 }] }
    scheduling: { graceSeconds: 3, maxStartAttempts: 1, nodeLostAfterSeconds: 0.5 }
`).pools
    const device = { model: 'V100', memoryGib: 32, tensorCores: false, cuda: ['9.0', '11.8'] }
    expect(pool).toMatchObject({
      executors: ['simulated'],
      inheritedEnvironment: ['CUDA_HOME'],
      nodes: [{ cpuMillis: 1500, memoryBytes: 2 ** 31, cpuModel: 'intel xeon', devices: [device, device] }],
      scheduling: { graceMs: 3_000, startAttemptsMax: 1, nodeLostAfterMs: 500 },
    })
  })

  it('sets the scheduling of a pool, and leaves out omitted fields', () => {
    const [pool] = load(`
pools:
  - name: box
    policy: FAIR_SHARE
    scheduling: { automatic: false, starvationThresholdMinutes: 0.5, shareHalfLifeSeconds: 3600, rotationQuantumSeconds: null, onUnsatisfiable: FAIL }
    weights: { alice.nlp: 2 }
`).pools
    expect(pool.scheduling.planning).toEqual({
      automatic: false,
      shareHalfLifeMs: 3_600_000,
      rotationQuantumMs: -1,
      onUnsatisfiable: 'FAIL',
    })
    expect(pool).toMatchObject({
      policy: 'FAIR_SHARE',
      limits: { starvationThresholdSeconds: 30 },
      weights: { 'alice.nlp': 2 },
    })
  })
})

describe('environment variables', () => {
  it('override the file', () => {
    const env = {
      BERTH_PORT: '0',
      BERTH_HOST: '::1',
      BERTH_ROLES: 'api',
      BERTH_DATA_DIR: '/tmp/berth',
      BERTH_PUBLIC_URL: 'https://berth.example.org',
      BERTH_LOG_LEVEL: 'debug',
      DATABASE_URL: 'postgresql://berth@db/berth',
    }
    const config = load('server: { port: 1, host: localhost }', env)
    expect(config.server).toMatchObject({
      port: 0,
      host: '::1',
      roles: ['api'],
      publicUrl: 'https://berth.example.org',
    })
    expect(config).toMatchObject({ dataDir: '/tmp/berth', logLevel: 'debug', serverEnvironment: env })
    expect(config.database.url).toBe('postgresql://berth@db/berth')
  })

  it('name the configuration file, and count as unset if they are empty', () => {
    const paths: string[] = []
    const readFile = (path: string) => {
      paths.push(path)
      return 'server: { port: 5 }'
    }
    const config = loadConfig({ argv: [], env: { BERTH_CONFIG: 'b.yaml', BERTH_PORT: '' }, readFile })
    expect(config.server.port).toBe(5)
    loadConfig({ argv: ['--config=a.yaml'], env: { BERTH_CONFIG: 'b.yaml' }, readFile })
    expect(paths).toEqual(['b.yaml', 'a.yaml'])
  })

  it('are expanded in the strings of the configuration file', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the form under test
    const yaml = 'database: { url: "postgresql://berth:${PGPASS}@db/berth" }'
    expect(load(yaml, { PGPASS: 's' }).database.url).toBe('postgresql://berth:s@db/berth')
    expect(refusal(yaml)).toEqual(['database.url: the variable PGPASS is not set; set PGPASS for the server'])
  })

  it('are rejected if their name is misspelt, and otherwise accepted', () => {
    const refused = (env: Record<string, string>, yaml = '') => refusal(yaml, env)
    expect(refused({ BERTH_PROT: '1' })).toEqual(['BERTH_PROT: is not a known variable; did you mean BERTH_PORT?'])
    expect(refused({ BERTH_CONFG: 'x.yaml' })).toEqual([expect.stringMatching(/did you mean BERTH_CONFIG\?$/)])
    expect(refused({ BERTH_DATADIR: '/x' })).toEqual([expect.stringMatching(/did you mean BERTH_DATA_DIR\?$/)])
    expect(refused({ BERTH_DATABASE_URL: 'x' })).toEqual([expect.stringMatching(/did you mean DATABASE_URL\?$/)])
    const ofJobs = { BERTH_RUN: '1', BERTH_RUN_ID: 'r', BERTH_URL: 'u', BERTH_TOKEN: 't', BERTH_RANK: '0' }
    const ofKubernetes = { BERTH_SERVICE_HOST: '10.0.0.1', BERTH_SERVICE_PORT: '80', BERTH_PORT_80_TCP_PORT: '80' }
    load('', { ...ofJobs, ...ofKubernetes, BERTH_OF_OTHERS: 'x', HERTH_PORT: '1' })
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the form under test
    expect(load('server: { host: "${BERTH_HOSTS}" }', { BERTH_HOSTS: 'a' }).server.host).toBe('a')
  })

  it('are named in the error message about their value', () => {
    expect(refusal('', { BERTH_PORT: '40x' })).toEqual([
      expect.stringMatching(/^BERTH_PORT: "40x" is not a whole number/),
    ])
    expect(refusal('', { BERTH_BOOTSTRAP_TOKEN: 'short' })).toEqual([
      expect.stringMatching(/^BERTH_BOOTSTRAP_TOKEN: the value is not a secret of 8/),
    ])
  })
})

describe('users in the configuration', () => {
  it('are read from an OpenID provider, by the configured claims', () => {
    const { oidc, bootstrapToken } = load(`
auth:
  oidc: { issuer: "https://id.example.org", audience: berth, levelClaim: level, levels: { admins: ADMIN }, teamsClaim: groups }`).auth
    expect(bootstrapToken).toBeNull()
    expect(oidc).toEqual({
      issuer: 'https://id.example.org',
      audience: 'berth',
      clientId: null,
      scopes: ['openid', 'profile', 'email', 'offline_access'],
      userClaim: 'email',
      levelClaim: 'level',
      levels: { admins: 'ADMIN' },
      teamsClaim: 'groups',
    })
  })

  it('may start with a bootstrap secret from the environment, which no job inherits', () => {
    const config = load('', { BERTH_BOOTSTRAP_TOKEN: 'a-secret-of-some-length', HOME: '/root' })
    expect(config.auth).toEqual({ oidc: null, bootstrapToken: 'a-secret-of-some-length' })
    expect(config.serverEnvironment).toEqual({ HOME: '/root' })
  })
})

describe('the rates of resources', () => {
  it('are set for each pool; without rates, the cost of jobs is unknown', () => {
    const rates = { cpuHour: 0.02, gpuHour: 1.5, currency: 'EUR' }
    const [priced, free] = load(`pools: [{ name: a, rates: ${JSON.stringify(rates)} }, { name: b }]`).pools
    expect([priced.rates, free?.rates]).toEqual([rates, undefined])
  })
})

describe('approval rules and the audit log', () => {
  it('are read with the field names and defaults of the API', () => {
    expect(load('approvalRules: [{ name: expensive, condition: { costAbove: 50 } }]').approvalRules).toEqual([
      {
        name: 'expensive',
        condition: { costAbove: 50 },
        priority: 0,
        enabled: true,
        exemptLevels: [],
        requiredLevel: 'LEAD',
        expiresAfterSeconds: 86_400,
      },
    ])
  })

  it('set the path of the audit head, relative to the configuration file', () => {
    const at = (path: string) =>
      loadConfig({ argv: ['--config', path], env: {}, readFile: () => 'audit: { headFile: heads }' }).audit.headFile
    expect(at('/etc/berth/berth.yaml')).toBe('/etc/berth/heads')
    expect(at('berth.yaml')).toBe(resolve('heads'))
    expect(load('audit: { headFile: /var/log/heads }').audit.headFile).toBe('/var/log/heads')
    expect(load('').audit.headFile).toBeNull()
  })
})

describe('error messages of a configuration', () => {
  it.each([
    [
      'approvalRules: [{ name: a, condition: {} }]',
      /^approvalRules\[0\].condition: has 0 conditions; give exactly one/,
    ],
    ['approvalRules: [{ name: a, condition: { costAbove: 1, firstJob: true } }]', /has 2 conditions/],
    ['console: { accent: blue }', /^console.accent: "blue" is not a colour as #RRGGBB; for example "#1A4FD6"/],
    [
      'console: { links: [{ title: a, url: "javascript:x" }] }',
      /^console.links\[0\].url: .* is not an http or https URL/,
    ],
    ['approvalRules: [{ name: a, condition: { cost: 1 } }]', /^approvalRules\[0\].condition.cost: is not a known key/],
    [
      'approvalRules: [{ name: a, condition: { name: "^(a$" } }]',
      'approvalRules[0].condition.name: "^(a$" is not a supported pattern: Unmatched (; for example "train-*"; docs/quotas.md lists all conditions',
    ],
    [
      `approvalRules: [{ name: ${'n'.repeat(256)}, condition: { firstJob: true } }]`,
      /is not a string of 1 to 255 characters/,
    ],
    ['pools: [{ name: a, rates: { cpuHour: 1, currency: EUR } }]', /^pools\[0\].rates.gpuHour: is missing/],
    [
      'pools: [{ name: a, rates: { cpuHour: 1, gpuHour: 1, currency: euro } }]',
      /^pools\[0\].rates.currency: "euro" is not the code of a currency; for example EUR/,
    ],
    ['audit: { headFile: 5 }', /^audit.headFile: 5 is not a text/],
    ['server: { prot: 1 }', 'server.prot: is not a known key; did you mean port?'],
    ['colour: red', /^colour: is not a known key; the keys here are server, /],
    ['server: { port: 99999 }', /^server.port: 99999 is not a whole number from 0 to 65535; for example 4000/],
    ['server: { roles: [web] }', 'server.roles[0]: "web" is not a known value; use api or scheduler'],
    ['server: { roles: [] }', /^server.roles: is empty/],
    ['server: { allowedOrigins: ["https://a.org/x"] }', /^server.allowedOrigins\[0\]: .* is not an origin/],
    ['server: 5', /^server: 5 is not a YAML mapping/],
    ['server: { limits: { costPerMinute: 0 } }', /^server.limits.costPerMinute: 0 is not a whole number from 1/],
    [
      'server: { documents: { freeText: SOME } }',
      /^server.documents.freeText: "SOME" is not a known value; use ALL or/,
    ],
    [
      'auth: { oidc: { issuer: "https://id.org", audience: b, levels: { admins: ADMIN } } }',
      'auth.oidc.levels: needs levelClaim; name the claim whose values it maps',
    ],
    [
      'auth: { oidc: { issuer: "https://id.org", audience: b, levelClaim: level } }',
      'auth.oidc.levelClaim: needs levels; map each value to a level',
    ],
    [
      'auth: { oidc: { issuer: "https://id.org", audience: b, levelClaim: l, levels: { a: BOSS } } }',
      /^auth.oidc.levels.a: "BOSS" is not a known value; use VIEWER or/,
    ],
    ['auth: { bootstrapToken: "two words here" }', /^auth.bootstrapToken: the value is not a secret/],
    ['quotas: [{ type: JOBS_PER_DAY, action: BLOCK, scope: USER, limit: 1 }]', /quotas\[0\].key: is missing/],
    ['quotas: [{ type: JOBS_PER_DAY, action: BLOCK, scope: GLOBAL, limit: 1.5 }]', /whole number/],
    [
      'pools: [{ name: a, limits: { maxConcurrent: -5 } }]',
      /^pools\[0\].limits.maxConcurrent: -5 is not a whole number from 0/,
    ],
    ['pools: [{ name: a, limits: { userMax: 5 } }]', /^pools\[0\].limits.userMax: is not a known key/],
    ['database: { url: "mysql://ann:secret@db" }', /^database.url: the value is not a PostgreSQL URL/],
    ['retention: { logsDays: 0 }', /^retention.logsDays: 0 is not a whole number from 1/],
    [
      'pools: [{ name: a, policy: LOTTERY }]',
      /^pools\[0\].policy: "LOTTERY" is not a known value; use PRIORITY or FAIR_SHARE/,
    ],
    [
      'pools: [{ name: a, scheduling: { rotationQuantumSeconds: -2 } }]',
      /^pools\[0\].scheduling.rotationQuantumSeconds: -2 is not a number of seconds from 0 to 31536000/,
    ],
    [
      'pools: [{ name: a, scheduling: { graceSeconds: 0 } }]',
      /^pools\[0\].scheduling.graceSeconds: 0 is not a number of seconds from 1 to 600/,
    ],
    ['pools: [{ name: a, weights: { b: 0 } }]', /^pools\[0\].weights.b: 0 is not a number of weight/],
    ['pools: [{ name: a, executor: kubernetes }]', /^server\.publicUrl: is missing: jobs of the executor kubernetes/],
    ['kubernetes: { namespace: Berth }', /^kubernetes\.namespace: "Berth" is not a name of Kubernetes/],
    [
      'pools: [{ name: a, executors: [lokal] }]',
      new RegExp(`"lokal" is not a known value; use ${executorNames.join(' or ')}`),
    ],
    [
      'pools: [{ name: a, executor: local, executors: [local] }]',
      /^pools\[0\].executor: cannot be combined with executors/,
    ],
    ['pools: [{ name: a, executor: slurm }]', /^pools\[0\].sharedDir: is missing; name the folder/],
    [
      'pools: [{ name: a, sharedDir: /shared }]',
      /^pools\[0\].sharedDir: is not used by a pool with local, handler, container; remove it/,
    ],
    [
      'pools: [{ name: a, executor: slurm, sharedDir: shared }]',
      /^pools\[0\].sharedDir: "shared" is not an absolute path/,
    ],
    ['pools: [{ name: a }, { name: a }]', /^pools\[1\].name: "a" is defined twice/],
    ['pools: [{ name: a, executor: simulated }]', /^pools\[0\].nodes: a simulated pool needs declared nodes/],
    ['pools: [{ name: a, nodes: [] }]', /^pools\[0\].nodes: a local pool is one machine, not 0/],
    ['queues: [{ name: q, pool: gone }]', 'queues[0].pool: the pool "gone" is not defined; use local'],
    ['queues: [{ name: q, pool: local }, { name: q, pool: local }]', /^queues\[1\].name: "q" is defined twice/],
  ])('name the reason: %s', (yaml, told) => {
    expect(refusal(yaml)).toEqual([typeof told === 'string' ? told : expect.stringMatching(told)])
  })

  it('say that simulated must be the only executor of a pool', () => {
    const nodes = 'nodes: [{ name: n, cpu: 1, memoryGib: 1 }]'
    expect(refusal(`pools: [{ name: a, executors: [local, simulated], ${nodes} }]`)).toEqual([
      expect.stringMatching(/simulated must be the only executor of a pool/),
    ])
  })

  it.each(['~/berth', '~', 'a\\nb'])('name a data directory that has ~ or two lines: %s', (path) => {
    expect(refusal(`dataDir: "${path}"`)).toEqual([
      expect.stringMatching(/^dataDir: .* is not a path in one line without ~/),
    ])
  })

  it('never print a secret', () => {
    expect(refusal('database: { url: "mysql://ann:secret@db" }').join()).not.toContain('secret')
    expect(refusal('auth: { bootstrapToken: s3cr3t }').join()).not.toContain('s3cr3t')
  })

  it('list all mistakes at once', () => {
    expect(refusal('server: { port: x, host: 5 }\nretention: { jobsDays: 1.5 }\nx: 1')).toHaveLength(4)
    expect(refusal('approvalRules: [{ name: a, condition: { name: "^[$" } }]\nx: 1')).toHaveLength(2)
  })

  it('name a file that cannot be read or parsed', () => {
    expect(refusal('a: [')).toEqual([expect.stringMatching(/^berth.yaml: .*correct the YAML$/)])
    expect(refusal('server: { host: !from.file x }')).toEqual([
      'berth.yaml: Unresolved tag: !from.file at line 1, column 17; correct the YAML',
    ])
    expect(refusal('logLevel: info\n---\nlogLevel: warn')).toEqual(['berth.yaml: has more than one document; keep one'])
    expect(refusal('server: { port: .nan }')).toEqual([
      expect.stringMatching(/^server.port: NaN is not a whole number/),
    ])
    const readFile = () => {
      throw new Error('ENOENT')
    }
    expect(() => loadConfig({ argv: ['--config', 'x.yaml'], env: {}, readFile })).toThrow(/^x.yaml: cannot be read/)
  })

  it.each([[['--confg', 'x']], [['--config']], [['--config', 'a', 'b']]])('explain --config for %j', (argv) => {
    expect(() => loadConfig({ argv, env: {}, readFile: () => '' })).toThrow(/use --config file.yaml/)
  })
})

describe('manifests of trusted documents', () => {
  const manifests: Record<string, string> = {
    'codegen.json': '{ "sha256:1": "query A { a }" }',
    'apollo.json': `{ "format": "apollo-persisted-query-manifest", "version": 1,
      "operations": [{ "id": "2", "name": "B", "type": "query", "body": "query B { b }" }] }`,
    'other.json': '{ "sha256:1": "query C { c }" }',
    'list.json': '[]',
    'numbers.json': '{ "1": 1 }',
    'half.json': '{',
  }
  const loadWith = (names: string) =>
    loadConfig({
      argv: ['--config', 'here/berth.yaml'],
      env: {},
      readFile: (path) =>
        path === 'here/berth.yaml'
          ? `server: { documents: { manifests: [${names}], freeText: NONE } }`
          : (manifests[path.replace(`${resolve('here')}/`, '')] ?? ''),
    })

  it('are read from paths relative to the configuration file, in the formats of common tools', () => {
    const { documents } = loadWith('codegen.json, apollo.json').server
    expect(documents.freeText).toBe('NONE')
    expect([...documents.byId]).toEqual([
      ['sha256:1', 'query A { a }'],
      ['2', 'query B { b }'],
    ])
  })

  it.each([
    ['codegen.json, other.json', 'manifests[1]: has another text for "sha256:1" than a manifest before it'],
    ['list.json', 'manifests[0]: is not a map from ids to documents'],
    ['numbers.json', 'manifests[0]: has no text for the document "1"'],
    ['half.json', 'half.json cannot be read'],
  ])('prevent the start if they are invalid: %s', (names, text) => {
    expect(() => loadWith(names)).toThrow(text)
  })
})
