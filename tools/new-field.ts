/**
 * All that has to be written for a field that is stored and returned: a row of the table, and a column in each store's schema.
 * `npm run docs` and `npm run schema` generate the rest. `test/new-field.test.ts` makes these edits to a copy of the sources,
 * and uses the field through every interface.
 */
export const NEW_FIELD_EDITS = [
  {
    file: 'src/alarm/fields/table.ts',
    before: '  updatedAt: {',
    added: `  costCentre: { type: 'text', wire: 'cost_centre', column: 'cost_centre', calls: BOTH, defaultValue: null, omits: [null],
    doc: 'The cost centre it is charged to.' },\n`,
  },
  {
    file: 'src/stores/sqlite/schema/migrations/0005-first.ts',
    before: '  notes TEXT,',
    added: '  cost_centre TEXT,\n',
  },
  {
    file: 'src/stores/postgres/schema/migrations/0005-first.ts',
    before: '  notes text,',
    added: '  cost_centre text,\n',
  },
] as const
