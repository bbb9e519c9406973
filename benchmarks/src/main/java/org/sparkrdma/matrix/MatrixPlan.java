// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

/**
 * Input of one application, as JSON.
 *
 * @param generate whether the input of the sort has to be written first
 * @param input directory of the records to sort
 * @param output directory of the sorted records
 * @param answer file for the rows of the SQL query, one line each
 * @param records number of records to sort
 * @param partitions number of partitions of the sort and of the query
 * @param orders number of rows of the query's smaller table
 */
public record MatrixPlan(
    boolean generate,
    String input,
    String output,
    String answer,
    long records,
    int partitions,
    long orders) {}
