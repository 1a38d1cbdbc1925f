import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Api, connectApi } from '../../support/api.ts'
import { startServer, type TestServer } from '../../support/server.ts'

let server: TestServer
let api: Api
beforeAll(async () => {
  const links = [{ title: 'Grafana', url: 'https://grafana.example.org/d/job?var-job={id}', on: 'JOB' as const }]
  server = await startServer({
    facts: { title: 'GPU lab', accent: '#1A4FD6', publicUrl: 'https://berth.example.org', links },
  })
  api = connectApi(server.url)
})
afterAll(async () => {
  await api.close()
  await server[Symbol.asyncDispose]()
})

test('serverInfo returns the name, colour, address and links of the installation', async () => {
  const { serverInfo } = await api.ask<{ serverInfo: object }>(
    '{ serverInfo { title accent publicUrl links { title url on } } }',
  )
  expect(serverInfo).toEqual({
    title: 'GPU lab',
    accent: '#1A4FD6',
    publicUrl: 'https://berth.example.org',
    links: [{ title: 'Grafana', url: 'https://grafana.example.org/d/job?var-job={id}', on: 'JOB' }],
  })
})

test('an executor lists the fields of a spec that it supports', async () => {
  const { system } = await api.ask<{ system: { executors: { name: string; specFields: string[] }[] } }>(
    '{ system { executors { name specFields } } }',
  )
  const specFields = system.executors.find(({ name }) => name === 'SIMULATED')?.specFields ?? []
  expect(specFields).toContain('image')
  expect(specFields).toContain('resources.replicas')
  expect(specFields).toContain('maxRunTimeSeconds')
  expect(new Set(specFields).size).toBe(specFields.length)
})
