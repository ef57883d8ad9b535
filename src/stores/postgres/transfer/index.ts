export { EXPORT_QUERIES, exportLines } from './export.ts'
export { IMPORT_QUERIES, importBatch } from './import.ts'
