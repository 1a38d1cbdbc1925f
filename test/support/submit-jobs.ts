export { submitAll as submitJobs } from '../../src/domain/submission/submit.ts'
