/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.matrix;

/**
 * What one application does.
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
