import { defaultClientConditions, defineConfig } from 'vite'

/** `@berth-jobs/berth/client` is the source of this repository here. A project that installs berth needs nothing of this. */
export default defineConfig({
  resolve: { conditions: ['berth-source', ...defaultClientConditions] },
  server: {
    fs: { allow: ['..', '../..'] },
    // The page and the API have one origin, the only one that a server without users serves.
    proxy: { '/graphql': { target: process.env['BERTH_URL'] ?? 'http://127.0.0.1:4000', ws: true } },
  },
  build: { emptyOutDir: true },
})
