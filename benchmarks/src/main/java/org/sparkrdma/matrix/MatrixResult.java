// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

/**
 * Result of one application, as JSON.
 *
 * @param sparkVersion version that Spark reports
 * @param javaVersion of the driver
 * @param records number of sorted records
 * @param checksum of the sorted records
 * @param inputChecksum of the records before the sort
 * @param sorted whether the output is in order
 */
public record MatrixResult(
    String sparkVersion,
    String javaVersion,
    long records,
    String checksum,
    String inputChecksum,
    boolean sorted) {}
