// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.tera;

/** What {@code generate} wrote, read back from the files. */
public record GeneratedInput(long records, String checksum) {}
