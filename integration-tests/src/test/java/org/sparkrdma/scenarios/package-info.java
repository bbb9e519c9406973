/**
 * Jobs on small clusters under the plug-in: their results are vanilla Spark's, and their bytes went
 * the way they should.
 *
 * <p>Entry: the suites, which {@link org.sparkrdma.suites.SuitesIT} runs. Executors get the plug-in
 * and the jobs by {@code spark.jars}, as users' executors do.
 */
package org.sparkrdma.scenarios;
