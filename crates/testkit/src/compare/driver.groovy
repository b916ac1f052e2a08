// Executes plans one after the other in one JVM, each as `jmeter -n -t PLAN -l RESULTS` does.
//
// Arguments: JMeter's home folder, a JSON file with the plans. Before and after each plan a line is
// printed; JMeter's own lines stand between them.

import groovy.json.JsonSlurper
import org.apache.jmeter.JMeter
import org.apache.jmeter.control.ReplaceableController
import org.apache.jmeter.engine.StandardJMeterEngine
import org.apache.jmeter.gui.tree.JMeterTreeModel
import org.apache.jmeter.reporters.ResultCollector
import org.apache.jmeter.reporters.Summariser
import org.apache.jmeter.save.SaveService
import org.apache.jmeter.services.FileServer
import org.apache.jmeter.util.JMeterUtils
import org.apache.jorphan.collections.SearchByClass

String home = args[0]
def work = new JsonSlurper().parse(new File(args[1]))

System.setProperty(JMeter.JMETER_NON_GUI, "true")
JMeterUtils.setJMeterHome(home)
JMeterUtils.loadJMeterProperties("$home/bin/jmeter.properties")
new File(home, "bin/user.properties").withInputStream { JMeterUtils.getJMeterProperties().load(it) }
new File(home, "bin/system.properties").withInputStream { System.getProperties().load(it) }
JMeterUtils.setLocale(Locale.ENGLISH)
SaveService.loadProperties()

Properties properties = JMeterUtils.getJMeterProperties()
Properties usual = (Properties) properties.clone()

void execute(job) {
    File plan = new File(job.plan)
    FileServer.getFileServer().setBaseForScript(plan)
    def tree = SaveService.loadTree(plan)
    def model = new JMeterTreeModel(new Object())
    def root = model.getRoot()
    model.addSubTree(tree, root)
    def replaceable = new SearchByClass<>(ReplaceableController)
    tree.traverse(replaceable)
    replaceable.getSearchResults().each { it.resolveReplacementSubTree(root) }
    def whole = JMeter.convertSubTree(tree, true)
    def results = new ResultCollector(new Summariser(JMeterUtils.getPropDefault("summariser.name", "summary")))
    results.setFilename(job.results)
    whole.add(whole.getArray()[0], results)
    def engine = new StandardJMeterEngine()
    engine.configure(whole)
    def test = Thread.startDaemon { engine.run() }
    test.join(job.bound_ms as long)
    if (test.isAlive()) {
        engine.stopTest(true)
        test.join()
        throw new IllegalStateException("took too long")
    }
}

work.plans.each { job ->
    properties.clear()
    properties.putAll(usual)
    (work.properties + job.properties).each { name, value -> properties.setProperty(name, value) }
    // The recorder keeps what comes from here on under this plan.
    new URL("http://127.0.0.1:${work.port}/.next").text
    println "@begin"
    try {
        execute(job)
    } catch (Throwable failure) {
        println "@failed " + failure.toString().readLines().join(" ")
    }
    println "@end"
}
System.out.flush()
Runtime.getRuntime().halt(0)
