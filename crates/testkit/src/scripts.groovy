// Evaluates scripts of a file and prints class and text of each value, one line each.
// Arguments: the language, the file. Scripts are separated by lines of `---`.
import groovy.json.JsonOutput
import org.codehaus.groovy.runtime.InvokerHelper
import org.codehaus.groovy.runtime.typehandling.DefaultTypeTransformation

def describe = { value, boolean groovy ->
    if (value == null) return 'null'
    def name = value instanceof List ? 'List' : value instanceof Map ? 'Map' : value instanceof Set ? 'Set' :
        value instanceof GString ? 'GString' : value.getClass().isArray() ? 'Array' : value instanceof Map.Entry ? 'Entry' : value instanceof Collection ? 'List' : value.getClass().simpleName
    def text = value.getClass().isArray() ? DefaultTypeTransformation.asCollection(value).toString() :
        groovy ? InvokerHelper.toString(value) : String.valueOf(value)
    "$name:$text".toString()
}
def thrown = { Throwable error ->
    def message = error.message
    '!' + error.getClass().name + (message == null ? '' : ':' + message)
}
// What scripts print goes nowhere.
def out = System.out
System.out = new PrintStream(OutputStream.nullOutputStream())
TimeZone.setDefault(TimeZone.getTimeZone('UTC'))
Locale.setDefault(Locale.US)
new File(args[1]).getText('UTF-8').split(/(?m)^---\n/).each { script ->
    String said
    try {
        if (args[0] == 'groovy') {
            said = describe(new GroovyShell().evaluate(script), true)
        } else {
            def value = new bsh.Interpreter().eval(script)
            said = describe(value instanceof bsh.Primitive ? value.value : value, false)
        }
    } catch (bsh.TargetError error) {
        said = thrown(error.target)
    } catch (bsh.EvalError error) {
        said = '!bsh.EvalError'
    } catch (Throwable error) {
        said = thrown(error)
    }
    out.println JsonOutput.toJson(said)
}
