/** The packaged jar on several versions of Spark; entry: {@code MatrixIT}. */
package org.sparkrdma.matrix;
