export { type Preview, type PreviewedInstant, preview } from './preview.ts'
