export { EXPORT_QUERIES, exportLines, importRow } from './portable.ts'
